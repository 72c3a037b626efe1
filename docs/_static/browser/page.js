// The page "In the browser": a dropped table goes to the worker, and its report comes back.
const $ = (id) => document.getElementById(id);
const box = $("gradsift-browser");
const here = new URL(".", import.meta.url);
let worker;
let name;

const said = (text) => { $("gradsift-said").textContent = text; };

const answers = {
  step: said,
  columns(names) {
    const target = $("gradsift-target");
    target.replaceChildren(...names.map((text) => new Option(text)));
    target.value = names.at(-1);
    $("gradsift-drop").replaceChildren(...names.map((text) => new Option(text)));
    $("gradsift-ask").hidden = false;
    said(`${name}: ${names.length} columns. Which one is to be explained?`);
  },
  report({ headline, files }) {
    said(headline);
    $("gradsift-run").disabled = false;
    $("gradsift-report").srcdoc = files["report.html"];
    $("gradsift-files").replaceChildren(...Object.entries(files).map(([title, text]) => {
      const link = document.createElement("a");
      link.download = link.textContent = title;
      link.href = URL.createObjectURL(new Blob([text]));
      return link;
    }));
    $("gradsift-result").hidden = false;
  },
  refused(sentence) {
    said(sentence);
    $("gradsift-run").disabled = false;
  },
  failed: (sentence) => said(`Python could not be started: ${sentence}`),
};

function start() {
  worker = new Worker(new URL("worker.js", here), { type: "module" });
  worker.onmessage = ({ data }) => answers[data.kind](data.content);
  worker.onerror = (event) => answers.failed(event.message ?? "the worker could not be loaded");
}

async function take(file) {
  if (!file) return;
  if (!worker) start();
  name = file.name;
  $("gradsift-ask").hidden = $("gradsift-result").hidden = true;
  said("reading");
  worker.postMessage({ name, table: new Uint8Array(await file.arrayBuffer()) });
}

$("gradsift-file").addEventListener("change", (event) => take(event.target.files[0]));
box.addEventListener("dragover", (event) => event.preventDefault());
box.addEventListener("drop", (event) => {
  event.preventDefault();
  take(event.dataTransfer.files[0]);
});
$("gradsift-run").addEventListener("click", () => {
  $("gradsift-run").disabled = true;
  $("gradsift-result").hidden = true;
  const drop = [...$("gradsift-drop").selectedOptions].map((option) => option.value);
  const missing = $("gradsift-missing").value;
  worker.postMessage({ name, target: $("gradsift-target").value, drop, missing });
});
$("gradsift-example").addEventListener("click", async () => {
  const answer = await fetch(new URL("../../pyodide/diabetes.csv", here));
  take(new File([await answer.blob()], "diabetes.csv"));
});

if (location.protocol === "file:") {
  said("Browsers give no Python to pages opened from a disk: serve the site "
    + "(python -m http.server) and open this page there.");
} else {
  fetch(new URL("../../pyodide/gradsift.zip", here), { method: "HEAD" }).then((answer) => {
    box.inert = !answer.ok;
    said(answer.ok ? "No table yet."
      : "This copy of the site was built without Python for browsers (make browser, then make docs).");
  });
}
