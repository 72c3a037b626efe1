// Python in a thread of its own, so that the page stays alive while it computes.
// Everything is loaded from the folder of this site; no address of another host is known here.
import { loadPyodide } from "../../pyodide/pyodide.mjs";

const FOLDER = new URL("../../pyodide/", import.meta.url).href;
const tell = (kind, content) => postMessage({ kind, content });

async function bytes(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} could not be loaded`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function begin() {
  tell("step", "loading Python");
  const python = await loadPyodide({ indexURL: FOLDER });
  tell("step", "loading numpy, scipy, scikit-learn and matplotlib");
  const loaded = await python.loadPackage(
    ["numpy", "scipy", "scikit-learn", "matplotlib"],
    { messageCallback: () => {} },
  );
  if (loaded.length < 4) throw new Error("not every package could be loaded");
  python.unpackArchive(await bytes(`${FOLDER}gradsift.zip`), "zip", {
    extractDir: python.runPython("import site; site.getsitepackages()[0]"),
  });
  tell("step", "starting gradsift");
  const source = await bytes(new URL("make_report.py", import.meta.url));
  python.runPython(new TextDecoder().decode(source));
  return python;
}

const ready = begin();
ready.catch((error) => tell("failed", String(error)));

// A Python error ends with the sentence that gradsift wrote for people.
const lastLine = (error) => String(error.message ?? error).trim().split("\n").at(-1);

onmessage = async ({ data }) => {
  try {
    const python = await ready;
    const path = `/tmp/${data.name.replaceAll("/", "_")}`;
    if (data.table) {
      python.FS.writeFile(path, data.table);
      tell("columns", python.globals.get("column_names")(path).toJs());
    } else {
      const say = (what) => tell("step", what);
      const make = python.globals.get("make_report");
      const found = make(path, data.target, say, data.drop, data.missing);
      const [headline, files] = found.toJs({ dict_converter: Object.fromEntries });
      tell("report", { headline, files });
    }
  } catch (error) {
    tell("refused", lastLine(error));
  }
};
