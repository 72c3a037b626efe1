"""Tables as laboratories, offices and programs write them.

Each function writes its files into a folder and returns the main one, and with it the table that
holds the target where that is another one. None of them knows what gradsift does with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine

Files = tuple[Path, Path | None]


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _diabetes() -> pd.DataFrame:
    return load_diabetes(as_frame=True, scaled=False).frame.round(3)


def _days(rng: np.random.Generator, n: int, start: str, span: int) -> pd.Series:
    return pd.Series(pd.Timestamp(start) + pd.to_timedelta(rng.integers(0, span, n), unit="D"))


def _text(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Files:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path, None


def _comma(values: pd.Series, digits: int) -> pd.Series:
    return values.map(lambda v: f"{v:.{digits}f}".replace(".", ","))


def _dotted(values: pd.Series) -> pd.Series:
    return values.map(lambda v: f"{v:,.2f}".replace(",", " ").replace(".", ",").replace(" ", "."))


def german(folder: Path) -> Files:
    rng, n = _rng(1), 180
    size, sex = rng.normal(172, 9, n), rng.choice(["männlich", "weiblich", "divers"], n)
    sales = rng.lognormal(7, 1, n)
    frame = pd.DataFrame({
        "Kunden-Nr": rng.permutation(np.arange(40_000, 40_000 + n)), "Geschlecht": sex,
        "Größe (cm)": _comma(pd.Series(size), 1), "Umsatz": _dotted(pd.Series(sales)) + " €",
        "Aufnahme": _days(rng, n, "2022-01-03", 500).dt.strftime("%d.%m.%Y"),
        "Puls": rng.integers(50, 100, n),
        "Gewicht": _comma(pd.Series(0.9 * size - 80 + 6 * (sex == "männlich")
                                    + rng.normal(0, 4, n)), 2),
    })  # fmt: skip
    return _text(folder, "kunden.csv", frame.to_csv(sep=";", index=False), "cp1252")


def french(folder: Path) -> Files:
    rng, n = _rng(2), 150
    km, fuel = rng.integers(4_000, 180_000, n), rng.choice(["essence", "diesel", "électrique"], n)
    price = 21_000 - 0.08 * km + 3_000 * (fuel == "électrique") + rng.normal(0, 900, n)
    frame = pd.DataFrame({
        "référence": [f"FR-{k:05d}" for k in rng.permutation(n) * 7], "énergie": fuel,
        "kilométrage": [f"{k:,}".replace(",", " ") for k in km],
        "mise en service": _days(rng, n, "2012-01-01", 3_000).dt.strftime("%d/%m/%Y"),
        "portes": rng.choice([3, 5], n), "prix": _comma(pd.Series(price), 2),
    })  # fmt: skip
    return _text(folder, "voitures.csv", frame.to_csv(sep=";", index=False), "latin-1")


def utf16_tabs(folder: Path) -> Files:
    return _text(folder, "export.txt", _diabetes().to_csv(sep="\t", index=False), "utf-16")


def latin1_remarks(folder: Path) -> Files:
    rng, n = _rng(3), 96
    dose = rng.choice(["ohne", "früh", "spät", "früh+spät"], n)
    gain = pd.Series(dose).map({"ohne": 0, "früh": 6, "spät": 4, "früh+spät": 9})
    frame = pd.DataFrame({
        "Düngung": dose, "Niederschlag": rng.normal(60, 9, n).round(1),
        "Ertrag": (40 + gain + rng.normal(0, 2, n)).round(2),
    })  # fmt: skip
    head = "# Versuchsfeld Süd, Prüfglieder nach DIN\n# Stand: März 2021\n"
    return _text(folder, "versuch.csv", head + frame.to_csv(index=False), "latin-1")


def workbook_titles(folder: Path) -> Files:
    rng, n = _rng(4), 120
    nitrogen, kind = rng.uniform(0, 200, n).round(0), rng.choice(["Aurora", "Borea", "Ceres"], n)
    frame = pd.DataFrame({
        "variety": kind, "nitrogen": nitrogen, "sown": _days(rng, n, "2020-03-01", 60),
        "plants": rng.integers(200, 300, n),
        "yield": (3 + 0.03 * nitrogen - 7e-5 * nitrogen**2 + rng.normal(0, 0.3, n)).round(3),
    })  # fmt: skip
    path = folder / "trial.xlsx"
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="Trial", index=False, startrow=4)
        sheet = book.sheets["Trial"]
        sheet["A1"], sheet["A2"] = "Field trial 2020, north station", "exported by hand"
    return path, None


def workbook_second_sheet(folder: Path) -> Files:
    wine = load_wine(as_frame=True)
    frame = wine.frame.drop(columns="target")
    frame["class"] = wine.target.map(dict(enumerate(["Barolo", "Grignolino", "Barbera"])))
    path = folder / "wine.xlsx"
    with pd.ExcelWriter(path) as book:
        about = {"what": ["Chemical analysis of wines", "178 samples"], "who": ["lab", "lab"]}
        pd.DataFrame(about).to_excel(book, sheet_name="Read me", index=False)
        frame.to_excel(book, sheet_name="Data", index=False)
    return path, None


def _genes(seed: int, n: int = 60, p: int = 800) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Genes in rows with two columns of annotation, and the samples' table in another order."""
    rng = _rng(seed)
    kind = rng.integers(0, 2, n)
    values = rng.normal(8, 1, (p, n))
    values[3] += 3 * kind
    names = [f"S{k:03d}" for k in rng.permutation(n) + 100]
    genes = pd.DataFrame(values.round(3), columns=names)
    genes.insert(0, "symbol", [f"ABC{k % 700}" for k in range(p)])
    genes.insert(0, "gene_id", [f"G{k:04d}" for k in range(p)])
    meta = pd.DataFrame({"sample": names, "type": np.array(["control", "tumour"])[kind],
                         "age": rng.integers(30, 80, n)})  # fmt: skip
    return genes, meta.sample(frac=1.0, random_state=seed)


def genes_in_rows(folder: Path) -> Files:
    genes, meta = _genes(5)
    genes.to_csv(folder / "counts.tsv", sep="\t", index=False)
    meta.to_csv(folder / "samples.tsv", sep="\t", index=False)
    return folder / "counts.tsv", folder / "samples.tsv"


def genes_numbered(folder: Path) -> Files:
    """As R writes a matrix: an unnamed first column, and names that begin with a number."""
    genes, meta = _genes(6)
    genes = genes.drop(columns="symbol").rename(columns=lambda c: c.replace("S", "X2020."))
    meta["sample"] = meta["sample"].str.replace("S", "2020-")
    genes.rename(columns={"gene_id": ""}).to_csv(folder / "matrix.csv", index=False)
    meta.to_csv(folder / "pheno.csv", index=False)
    return folder / "matrix.csv", folder / "pheno.csv"


def joined_by_names(folder: Path) -> Files:
    rng, n = _rng(7), 140
    markers = rng.normal(size=(n, 30))
    who = [f"P-{k:04d}" for k in rng.choice(9_999, n, replace=False)]
    X = pd.DataFrame(markers.round(3), columns=[f"marker_{k}" for k in range(30)])
    X.insert(0, "ward", rng.choice(["east", "west"], n))
    X.insert(0, "patient", who)
    answer = 2 * markers[:, 2] + rng.normal(0, 0.5, n)
    other = pd.DataFrame({"visit": np.arange(n), "subject": who, "response": answer.round(3)})
    X.to_csv(folder / "markers.csv", index=False)
    other.sample(frac=0.9, random_state=0).to_csv(folder / "outcome.csv", index=False)
    return folder / "markers.csv", folder / "outcome.csv"


def lab_export(folder: Path) -> Files:
    rng, n = _rng(8), 160
    ill = rng.integers(0, 2, n)
    crp = rng.lognormal(0.2 + 1.6 * ill, 0.9, n)
    texts = [f"<{0.3}" if v < 0.3 else f"{v:.1f}" for v in crp]
    for k in rng.choice(n, 6, replace=False):
        texts[k] = "n.d."
    remarks = np.array([""] * n, dtype=object)
    for k in rng.choice(n, 60, replace=False):
        remarks[k] = f"haemolytic, repeat {k}, see sheet"
    frame = pd.DataFrame({
        "Sample ID": [f"L{k:06d}" for k in rng.choice(10**6, n, replace=False)],
        "Drawn": _days(rng, n, "2021-01-01", 90).dt.strftime("%d-%b-%Y"), "CRP [mg/L]": texts,
        "Glucose": [f"{v:.1f} mmol/L" for v in rng.normal(5.5, 1, n)],
        "Ferritin": [">1000" if v > 1000 else f"{v:.0f}" for v in rng.lognormal(5, 1.2, n)],
        "Remark": remarks, "outcome": np.array(["healthy", "ill"])[ill],
    })  # fmt: skip
    return _text(folder, "lab.csv", frame.to_csv(index=False))


def target_copies(folder: Path) -> Files:
    frame = _diabetes()
    frame["target_rounded_up"] = frame["target"] * 1000 // 1
    frame["log_target"] = np.log(frame["target"]).round(6)
    frame["target_usd"] = frame["target"].map(lambda v: f"${v:,.2f}")
    return _text(folder, "diabetes.csv", frame.to_csv(index=False))


def total_of_parts(folder: Path) -> Files:
    rng, n = _rng(9), 200
    income = rng.lognormal(8, 0.4, n).round(2)
    parts = {k: (income * rng.uniform(lo, 2 * lo, n)).round(2) for k, lo in
             {"rent": 0.15, "food": 0.1, "travel": 0.03}.items()}  # fmt: skip
    frame = pd.DataFrame({"income": income, "people": rng.integers(1, 6, n), **parts})
    frame["total"] = frame[list(parts)].sum(axis=1).round(2)
    return _text(folder, "budget.csv", frame.to_csv(index=False))


def product(folder: Path) -> Files:
    rng, n = _rng(10), 150
    ads = rng.uniform(0, 10, n).round(2)
    units = np.round(40 + 9 * ads + rng.normal(0, 8, n)).clip(1)
    price = rng.uniform(5, 9, n).round(2)
    frame = pd.DataFrame({"ads": ads, "staff": rng.integers(2, 9, n), "units": units,
                          "unit_price": price, "revenue": (units * price).round(2)})  # fmt: skip
    return _text(folder, "sales.csv", frame.to_csv(index=False))


def products_class(folder: Path) -> Files:
    """The class is a threshold of one column, and another one bins that column."""
    rng, n = _rng(11), 240
    years = rng.integers(8, 20, n)
    income = np.exp(9 + 0.12 * years + rng.normal(0, 0.4, n)).round(-2)
    bracket = pd.qcut(income, 4, labels=["A", "B", "C", "D"]).astype(str)
    frame = pd.DataFrame({"education_years": years, "age": rng.integers(25, 65, n),
                          "income": income, "bracket": bracket,
                          "rich": np.where(income > np.median(income), "yes", "no")})  # fmt: skip
    return _text(folder, "rich.csv", frame.to_csv(index=False))


def clinical_survival(folder: Path) -> Files:
    """As cBioPortal writes clinical data."""
    rng, n = _rng(12), 210
    stage = rng.integers(1, 5, n)
    time, censored = rng.exponential(90 / stage**1.5), rng.exponential(60, n)
    frame = pd.DataFrame({
        "PATIENT_ID": [f"TCGA-{k:02X}-{k * 37 % 9973:04d}" for k in range(n)],
        "SEX": rng.choice(["Male", "Female"], n), "AGE": rng.integers(35, 85, n),
        "STAGE": pd.Series(stage).map({1: "Stage I", 2: "Stage II", 3: "Stage III",
                                       4: "Stage IV"}),
        "GRADE": stage + rng.integers(0, 2, n),
        "OS_STATUS": np.where(time < censored, "1:DECEASED", "0:LIVING"),
        "OS_MONTHS": np.minimum(time, censored).round(2),
    })  # fmt: skip
    head = "#Patient Identifier\tSex\tAge\tStage\tGrade\tStatus\tMonths\n#STRING\tSTRING\tNUMBER\n"
    return _text(folder, "data_clinical.txt", head + frame.to_csv(sep="\t", index=False))


def event_as_target(folder: Path) -> Files:
    rng, n = _rng(13), 250
    stage = rng.integers(1, 5, n)
    time, censored = rng.exponential(900 / stage**1.5), rng.exponential(500, n)
    frame = pd.DataFrame({"id": np.arange(1, n + 1), "stage": stage, "age": rng.integers(35, 85, n),
                          "days_to_event": np.minimum(time, censored).round(0),
                          "death": (time < censored).astype(int)})  # fmt: skip
    return _text(folder, "cohort.csv", frame.to_csv(index=False))


def count_visits(folder: Path) -> Files:
    rng, n = _rng(14), 400
    chronic = rng.integers(0, 4, n)
    visits = rng.poisson(np.exp(0.2 + 0.45 * chronic) * rng.gamma(2, 0.5, n))
    frame = pd.DataFrame({"id": np.arange(9_000, 9_000 + n), "chronic": chronic,
                          "age": rng.integers(20, 80, n),
                          "insurance": rng.choice(["public", "private", "none"], n),
                          "visits": visits})  # fmt: skip
    return _text(folder, "visits.csv", frame.to_csv(index=False))


AGREE = np.array(["strongly disagree", "disagree", "neutral", "agree", "strongly agree"])


def likert(folder: Path) -> Files:
    rng, n = _rng(15), 260
    kind = rng.integers(0, 5, n)
    answer = np.clip(kind + rng.integers(-1, 2, n), 0, 4)
    often = np.array(["never", "rarely", "sometimes", "often", "always"])
    frame = pd.DataFrame({
        "price_fair": AGREE[rng.integers(0, 5, n)], "staff_kind": AGREE[kind],
        "would_return": often[rng.integers(0, 5, n)], "age": rng.integers(18, 80, n),
        "satisfaction": AGREE[answer],
    })  # fmt: skip
    return _text(folder, "survey.csv", frame.to_csv(index=False))


def ratings(folder: Path) -> Files:
    rng, n = _rng(16), 300
    speed = rng.normal(size=n)
    stars = np.clip(np.round(3 + 1.2 * speed + rng.normal(0, 0.6, n)), 1, 5).astype(int)
    frame = pd.DataFrame({"speed": speed.round(3), "weight": rng.normal(2, 0.3, n).round(3),
                          "colour": rng.choice(["black", "red", "blue"], n),
                          "stars": stars})  # fmt: skip
    return _text(folder, "reviews.csv", frame.to_csv(index=False))


def missing_words(folder: Path) -> Files:
    rng, n = _rng(17), 200
    weight = rng.normal(75, 12, n)
    frame = pd.DataFrame({
        "sex": rng.choice(["f", "m"], n), "weight": weight.round(1).astype(str),
        "salt": rng.normal(9, 2, n).round(2).astype(str),
        "smokes_per_day": rng.poisson(2, n).astype(str),
        "bp": (60 + 0.8 * weight + rng.normal(0, 6, n)).round(0).astype(int).astype(str),
    })  # fmt: skip
    words = {"sex": "?", "weight": "n/a", "salt": "unknown", "smokes_per_day": "-", "bp": "NaN"}
    for name, word in words.items():
        frame.loc[rng.choice(n, 14, replace=False), name] = word
    return _text(folder, "pressure.csv", frame.to_csv(index=False))


def informative_gaps(folder: Path) -> Files:
    """A test that is mostly ordered for the ill."""
    rng, n = _rng(18), 300
    ill = rng.integers(0, 2, n)
    ferritin = np.where(rng.random(n) < np.where(ill, 0.75, 0.25), rng.normal(100, 30, n), np.nan)
    frame = pd.DataFrame({"age": rng.integers(20, 80, n), "ferritin": ferritin.round(1),
                          "height": rng.normal(170, 9, n).round(0), "ill": ill})  # fmt: skip
    return _text(folder, "ferritin.csv", frame.to_csv(index=False))


def constants_and_twins(folder: Path) -> Files:
    """Two columns of one name, a constant, an empty column, and spaces around cells."""
    rng, n = _rng(19), 120
    x = rng.normal(size=(n, 3)).round(4)
    y = (2 * x[:, 0] + rng.normal(0, 0.5, n)).round(4)
    lines = ["site, x1, x2, x2, empty, batch, y"]
    lines += [f"north, {a}, {b}, {c}, , 7, {t}" for (a, b, c), t in zip(x, y)]
    return _text(folder, "site.csv", "\n".join(lines) + "\n")


def repeated_mice(folder: Path) -> Files:
    rng, mice = _rng(20), 40
    diet = rng.choice(["chow", "fat", "sugar"], mice)
    base = pd.Series(diet).map({"chow": 0.0, "fat": 4.0, "sugar": 1.5}).to_numpy()
    rows = [(f"M{m:02d}", diet[m], week, round(rng.normal(22, 2), 2),
             round(base[m] * week / 4 + rng.normal(0, 0.8), 2)) for m in range(mice)
            for week in (1, 2, 3, 4)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["mouse", "diet", "week", "room_temp", "weight_gain"])
    return _text(folder, "mice.csv", frame.to_csv(index=False))


def plates(folder: Path) -> Files:
    """A well per row, and all wells of a plate have one label."""
    rng = _rng(21)
    label = rng.permutation(np.repeat([0, 1], 12))
    rows = []
    for plate in range(24):
        for well in range(8):
            x = rng.normal(size=40)
            x[3] += 2 * label[plate]
            rows.append([f"{plate}_{'ABCDEFGH'[well]}1", f"plate{plate:02d}", *x.round(3)])
    frame = pd.DataFrame(rows, columns=["sample", "plate", *(f"feature_{k}" for k in range(40))])
    frame["label"] = np.repeat(np.array(["DMSO", "drug"])[label], 8)
    return _text(folder, "wells.tsv", frame.to_csv(sep="\t", index=False))


def matched_sets(folder: Path) -> Files:
    """One case and two controls in each set."""
    rng, sets = _rng(22), 80
    case = np.tile([1, 0, 0], sets)
    frame = pd.DataFrame({"stratum": np.repeat(np.arange(1, sets + 1), 3), "case": case,
                          "exposure": (rng.normal(size=3 * sets) + 1.2 * case).round(3),
                          "bmi": rng.normal(26, 4, 3 * sets).round(1)})  # fmt: skip
    return _text(folder, "case_control.csv", frame.to_csv(index=False))


def write_table(folder: Path) -> Files:
    """R's write.table as it is: blanks, quotes, and a header that lacks the row names."""
    rng, n = _rng(23), 90
    a, b = rng.normal(size=(2, n)).round(4)
    kind = rng.choice(["low dose", "high dose"], n)
    lines = ['"a" "b" "kind" "y"']
    lines += [f'"{k + 1}" {a[k]} {b[k]} "{kind[k]}" {3 * b[k] + rng.normal(0, 0.5):.4f}'
              for k in range(n)]  # fmt: skip
    return _text(folder, "table.txt", "\n".join(lines) + "\n")


def fixed_width(folder: Path) -> Files:
    return _text(folder, "report.txt", _diabetes().to_string(index=False) + "\n")


def otu_table(folder: Path) -> Files:
    """QIIME: a remark, `#OTU ID`, taxa in rows with their taxonomy, and a mapping file."""
    rng, n, p = _rng(24), 50, 60
    group = rng.integers(0, 2, n)
    counts = rng.negative_binomial(2, 0.05, (p, n))
    counts[2] = counts[2] * (1 + 5 * group)
    names = [f"{k}.gut" for k in rng.permutation(n) + 1]
    frame = pd.DataFrame(counts, columns=names)
    frame.insert(0, "#OTU ID", [f"OTU_{k}" for k in range(p)])
    frame["taxonomy"] = [f"k__Bacteria; p__Firmicutes; g__{k}" for k in range(p)]
    text = "# Constructed from biom file\n" + frame.to_csv(sep="\t", index=False)
    (folder / "otu.txt").write_text(text, encoding="utf-8")
    mapping = pd.DataFrame({"#SampleID": names, "BarcodeSequence": "ACGT", "group":
                            np.array(["lean", "obese"])[group]})  # fmt: skip
    mapping = mapping.sample(frac=1.0, random_state=1)
    mapping.to_csv(folder / "map.txt", sep="\t", index=False)
    return folder / "otu.txt", folder / "map.txt"


def money_percent(folder: Path) -> Files:
    rng, n = _rng(25), 180
    cut = rng.choice([0, 5, 10, 15, 20, 30], n)
    frame = pd.DataFrame({
        "Order ID": [f"CA-2019-{k}" for k in rng.choice(10**5, n, replace=False)],
        "Ordered": _days(rng, n, "2019-01-01", 360).dt.strftime("%m/%d/%Y"),
        "Price": [f"${v:,.2f}" for v in rng.lognormal(6.5, 1, n)],
        "Units": [f"{v:,}" for v in rng.integers(100, 5_000, n)],
        "Discount": [f"{v} %" for v in cut],
        "margin": (30 - 0.8 * cut + rng.normal(0, 3, n)).round(2),
    })  # fmt: skip
    return _text(folder, "orders.csv", frame.to_csv(index=False))


def ordered_parquet(folder: Path) -> Files:
    rng, n = _rng(26), 220
    levels = ["sehr gut", "gut", "befriedigend", "ausreichend"]
    code = rng.integers(0, 4, n)
    frame = pd.DataFrame({
        "grade": pd.Categorical.from_codes(code, levels, ordered=True),
        "when": _days(rng, n, "2018-01-01", 900), "size": rng.normal(size=n),
        "score": 10.0 - 2 * code + rng.normal(0, 1, n),
    })  # fmt: skip
    frame.to_parquet(folder / "scores.parquet")
    return folder / "scores.parquet", None


def us_dates(folder: Path) -> Files:
    rng, n = _rng(27), 200
    team = rng.choice(["alpha", "beta", "gamma"], n)
    when = pd.Timestamp("2020-02-01") + pd.to_timedelta(rng.integers(0, 500 * 1440, n), unit="min")
    hours = pd.Series(team).map({"alpha": 2.0, "beta": 5.0, "gamma": 5.5}) + rng.gamma(2, 0.5, n)
    frame = pd.DataFrame({"ticket": rng.permutation(n) + 10_000,
                          "opened": when.strftime("%m/%d/%Y %H:%M"), "team": team,
                          "duration": hours.round(2)})  # fmt: skip
    return _text(folder, "tickets.csv", frame.to_csv(index=False))


def spectrum(folder: Path) -> Files:
    rng, n = _rng(28), 90
    grid = np.linspace(0, 1, 120)
    fat, protein, water = rng.uniform(1, 40, n), rng.uniform(10, 25, n), rng.uniform(40, 75, n)
    peaks = [np.exp(-(((grid - c) / w) ** 2)) for c, w in ((0.3, 0.1), (0.6, 0.15), (0.8, 0.2))]
    X = np.outer(fat, peaks[0]) + np.outer(protein, peaks[1]) + np.outer(water, peaks[2])
    X += rng.normal(0, 3, (n, 1)) + rng.normal(0, 0.05, X.shape)
    frame = pd.DataFrame(X.round(4), columns=[str(900 + 2 * k) for k in range(120)])
    frame = frame.assign(fat=fat.round(2), protein=protein.round(2), moisture=water.round(2))
    return _text(folder, "nir.csv", frame.to_csv(index=False))


def postcodes(folder: Path) -> Files:
    rng, n = _rng(29), 220
    area = rng.uniform(30, 180, n).round(0)
    frame = pd.DataFrame({
        "listing_id": [f"{v:08x}" for v in rng.choice(2**31, n, replace=False)],
        "address": [f"{rng.integers(1, 200)} {rng.choice(['High', 'Mill', 'Park'])} St {k}"
                    for k in range(n)],
        "postcode": rng.choice(["01067", "04103", "10115", "20095", "50667"], n),
        "type": rng.choice(["flat", "house"], n), "area": area,
        "description": [f"bright rooms, {k} min to the centre" for k in rng.permutation(n)],
        "price": (3_000 * area + rng.normal(0, 30_000, n)).round(0),
    })  # fmt: skip
    return _text(folder, "listings.csv", frame.to_csv(index=False))


def sensor_clock(folder: Path) -> Files:
    rng, n = _rng(30), 600
    when = pd.date_range("2023-05-01T00:00:00", periods=n, freq="37min", tz="UTC")
    hour = when.hour.to_numpy() + when.minute.to_numpy() / 60
    warm = 18 + 6 * np.sin((hour - 8) / 24 * 2 * np.pi) + rng.normal(0, 1, n)
    frame = pd.DataFrame({"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                          "temperature": warm.round(2), "humidity": rng.normal(60, 5, n).round(1),
                          "power": (100 + 5 * warm + rng.normal(0, 5, n)).round(1)})  # fmt: skip
    return _text(folder, "sensor.csv", frame.to_csv(index=False))


# ------------------------------------------------------------------------ the second set


def two_header_rows(folder: Path) -> Files:
    """A workbook: groups of columns above their names."""
    rng, n = _rng(41), 140
    crp = rng.lognormal(1.5, 0.8, n)
    ill = rng.random(n) < 1 / (1 + np.exp(-2.5 * (np.log(crp) - 1.5)))
    frame = pd.DataFrame({
        "patient": [f"K{k:04d}" for k in range(n)], "sex": rng.choice(["f", "m"], n),
        "drawn": _days(rng, n, "2021-02-01", 300), "Hb": rng.normal(13, 1.5, n).round(1),
        "CRP": crp.round(2), "creatinine": rng.normal(0.9, 0.2, n).round(2),
        "outcome": np.where(ill, "ICU", "ward"),
    })  # fmt: skip
    groups = ["Person", "Person", "Visit", "Blood", "Blood", "Urine", "Result"]
    path = folder / "visits.xlsx"
    rows = pd.DataFrame([groups, list(frame), *frame.values.tolist()])
    rows.to_excel(path, index=False, header=False)
    return path, None


def title_line(folder: Path) -> Files:
    """A German report: a title, an empty line, the table."""
    rng, n = _rng(42), 160
    price, region = rng.uniform(2, 9, n), rng.choice(["Nord", "Süd", "West"], n)
    frame = pd.DataFrame({
        "Region": region, "Preis": _comma(pd.Series(price), 2) + " €",
        "Rabatt": _comma(pd.Series(rng.uniform(0, 30, n)), 1) + " %",
        "Absatz": _comma(pd.Series(500 - 40 * price + rng.normal(0, 20, n)), 1),
    })  # fmt: skip
    return _text(
        folder, "bericht.csv", "Verkaufsbericht 2023\n\n" + frame.to_csv(sep=";", index=False)
    )


def swiss_rents(folder: Path) -> Files:
    """Amounts as in Switzerland."""
    rng, n = _rng(43), 150
    area = rng.uniform(30, 160, n)
    rent = 18 * area + 300 + rng.normal(0, 90, n)

    def money(values: np.ndarray) -> list[str]:
        return [f"CHF {v:,.2f}".replace(",", "'") for v in values]

    frame = pd.DataFrame({
        "Objekt-Nr": rng.permutation(np.arange(7000, 7000 + n)), "Fläche": area.round(0),
        "Kaution": money(rng.uniform(900, 5000, n)), "Lift": rng.choice(["ja", "nein"], n),
        "Miete": money(rent),
    })  # fmt: skip
    return _text(folder, "mieten.csv", frame.to_csv(sep=";", index=False), "latin-1")


def units_in_cells(folder: Path) -> Files:
    """Units behind every number, of the target too."""
    rng, n = _rng(44), 150
    height = rng.normal(171, 9, n)
    frame = pd.DataFrame({
        "height": [f"{v:.0f} cm" for v in height],
        "dose": [f"{v} mg" for v in rng.choice([5, 10, 20], n)],
        "smoker": rng.choice(["yes", "no", "unknown"], n, p=[0.3, 0.6, 0.1]),
        "weight": [f"{v:.1f} kg" for v in 0.95 * height - 90 + rng.normal(0, 5, n)],
    })  # fmt: skip
    return _text(folder, "bodies.csv", frame.to_csv(index=False))


def detection_limits(folder: Path) -> Files:
    """Decimal commas and values below a limit."""
    rng, n = _rng(45), 180
    psa, cea = rng.lognormal(0.8, 1, n), rng.lognormal(0, 1, n)
    ill = rng.random(n) < 1 / (1 + np.exp(-2 * (np.log(psa) - 0.8)))

    def limited(values: np.ndarray, low: float) -> list[str]:
        return [f"<{low:g}".replace(".", ",") if v < low else f"{v:.2f}".replace(".", ",")
                for v in values]  # fmt: skip

    frame = pd.DataFrame({
        "Alter": rng.integers(40, 85, n), "PSA": limited(psa, 0.5), "CEA": limited(cea, 0.3),
        "Tumor": np.where(ill, "ja", "nein"),
    })  # fmt: skip
    return _text(folder, "marker.csv", frame.to_csv(sep=";", index=False), "cp1252")


def date_kinds(folder: Path) -> Files:
    """Dates in five ways, one column each."""
    rng, n = _rng(46), 160
    x = rng.normal(size=n)
    days = [_days(rng, n, "2019-01-01", 900) for _ in range(5)]
    frame = pd.DataFrame({
        "logged": days[0].dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "sampled": days[1].dt.strftime("%d-%b-%y"),
        "shipped": days[2].dt.strftime("%m/%d/%y"),
        "quarter": [f"Q{d.quarter} {d.year}" for d in days[3]],
        "period": days[4].dt.strftime("%Y-%m"),
        "x": x.round(3), "y": (2 * x + rng.normal(0, 0.5, n)).round(3),
    })  # fmt: skip
    return _text(folder, "dates.csv", frame.to_csv(index=False))


def german_genes_in_rows(folder: Path) -> Files:
    """Genes in rows with decimal commas, Latin-1, and a table of samples."""
    genes, samples = _genes(47, 50, 300)
    wide = genes.set_index(genes.columns[0]) if genes.iloc[:, 0].dtype == object else genes
    text = wide.to_csv(sep=";", decimal=",").encode("latin-1", "replace")
    (folder / "proben.csv").write_bytes(samples.to_csv(sep=";", index=False).encode("latin-1"))
    (folder / "gene.csv").write_bytes(text)
    return folder / "gene.csv", folder / "proben.csv"


def accounting(folder: Path) -> Files:
    """Negative amounts in brackets."""
    rng, n = _rng(48), 150
    flow = rng.normal(300, 1500, n)

    def booked(v: float) -> str:
        return f"({-v:,.2f})" if v < 0 else f"{v:,.2f}"

    frame = pd.DataFrame({
        "account": rng.choice(["A", "B", "C"], n), "cash flow": [booked(v) for v in flow],
        "staff": rng.integers(2, 60, n),
        "result": [booked(v) for v in 0.8 * flow + rng.normal(0, 300, n)],
    })  # fmt: skip
    return _text(folder, "books.csv", frame.to_csv(index=False))


def blank_thousands(folder: Path) -> Files:
    """French numbers, with narrow spaces between thousands."""
    rng, n = _rng(49), 140
    people = rng.lognormal(9, 1, n)
    frame = pd.DataFrame({
        "commune": [f"Commune {k}" for k in range(n)],
        "habitants": [f"{v:,.0f}".replace(",", "\u202f") for v in people],
        "littoral": rng.choice(["oui", "non"], n),
        "budget": [f"{v:,.1f}".replace(",", "\u202f").replace(".", ",")
                   for v in 1.4 * people + rng.normal(0, 900, n) + 4000],
    })  # fmt: skip
    return _text(folder, "communes.csv", frame.to_csv(sep=";", index=False))


def run_times(folder: Path) -> Files:
    """Times as hours, minutes and seconds."""
    rng, n = _rng(50), 160
    half = rng.normal(6300, 700, n)

    def clock(v: float) -> str:
        return f"{int(v) // 3600}:{int(v) % 3600 // 60:02d}:{int(v) % 60:02d}"

    frame = pd.DataFrame({
        "bib": rng.permutation(np.arange(1, n + 1)), "half": [clock(v) for v in half],
        "club": rng.choice(["yes", "no"], n),
        "finish": [clock(v) for v in 2.1 * half + rng.normal(0, 300, n)],
    })  # fmt: skip
    return _text(folder, "marathon.csv", frame.to_csv(index=False))


def age_bands(folder: Path) -> Files:
    """Bands of numbers, which are ordered categories."""
    rng, n = _rng(51), 240
    bands = ["18-24", "25-34", "35-49", "50-64", "65+"]
    k = rng.integers(0, 5, n)
    ill = rng.random(n) < 1 / (1 + np.exp(-1.2 * (k - 2)))
    frame = pd.DataFrame({
        "age": [bands[j] for j in k], "income": rng.choice(["<20k", "20k-50k", ">50k"], n),
        "insured": rng.choice(["TRUE", "FALSE"], n), "ill": np.where(ill, "TRUE", "FALSE"),
    })  # fmt: skip
    return _text(folder, "survey.csv", frame.to_csv(index=False))


def german_answers(folder: Path) -> Files:
    """Answers in German, with words for what is not known."""
    rng, n = _rng(52), 200
    pain = rng.choice(["keine", "leicht", "mittel", "stark"], n)
    k = np.array([["keine", "leicht", "mittel", "stark"].index(p) for p in pain])
    well = rng.random(n) < 1 / (1 + np.exp(1.5 * (k - 1.5)))
    frame = pd.DataFrame({
        "Pat-ID": [f"{k:05d}" for k in rng.permutation(n)], "Schmerz": pain,
        "Raucher": rng.choice(["ja", "nein", "unbekannt"], n),
        "Gewicht": [("k.A." if rng.random() < 0.08 else f"{v:.1f}".replace(".", ","))
                    for v in rng.normal(78, 12, n)],
        "geheilt": np.where(well, "ja", "nein"),
    })  # fmt: skip
    return _text(folder, "patienten.csv", frame.to_csv(sep=";", index=False), "cp1252")


# ------------------------------------------------------------------------ the third set


def units_row(folder: Path) -> Files:
    """Units in a row of their own below the header."""
    rng, n = _rng(61), 150
    height = rng.normal(170, 10, n)
    frame = pd.DataFrame({
        "who": [f"P{k:03d}" for k in range(n)], "height": height.round(1),
        "glucose": rng.normal(5.4, 0.8, n).round(2),
        "weight": (0.9 * height - 80 + rng.normal(0, 5, n)).round(1),
    })  # fmt: skip
    header, body = frame.to_csv(index=False).split("\n", 1)
    return _text(folder, "lab.csv", f"{header}\n,cm,mmol/L,kg\n{body}")


def footnotes_below(folder: Path) -> Files:
    """A sheet with remarks below the table."""
    rng, n = _rng(62), 120
    dose = rng.uniform(0, 10, n)
    frame = pd.DataFrame({
        "plot": [f"plot {k}" for k in range(n)], "dose": dose.round(2),
        "soil": rng.choice(["clay", "sand"], n),
        "yield": (3 + 0.4 * dose + rng.normal(0, 0.5, n)).round(2),
    })  # fmt: skip
    below = [[None] * 4, ["Source: register of fields, 2021", None, None, None]]
    path = folder / "fields.xlsx"
    pd.DataFrame([*frame.values.tolist(), *below], columns=frame.columns).to_excel(
        path, index=False
    )
    return path, None


def dates_with_words(folder: Path) -> Files:
    """Dates some of which are not known."""
    rng, n = _rng(63), 180
    days = _days(rng, n, "2018-01-01", 1200)
    born = _days(rng, n, "1950-01-01", 15_000).dt.strftime("%d.%m.%Y")
    seen = days.dt.strftime("%Y-%m-%d")
    stage = rng.integers(1, 5, n)
    frame = pd.DataFrame({
        "born": born.where(rng.random(n) > 0.05, "unknown"),
        "seen": seen.where(rng.random(n) > 0.08, "n.d."),
        "stage": stage, "score": (stage + rng.normal(0, 0.7, n)).round(2),
    })  # fmt: skip
    return _text(folder, "visits.csv", frame.to_csv(index=False))


def footnote_marks(folder: Path) -> Files:
    """Numbers with marks that point to remarks."""
    rng, n = _rng(64), 150
    x = rng.normal(12, 3, n)
    marks = rng.choice(["", "", "", "", "", "", "*", "**"], n)
    frame = pd.DataFrame({
        "pH": [f"{v:.1f}{m}" for v, m in zip(x, marks)], "depth": rng.integers(1, 60, n),
        "yield": (2 * x + rng.normal(0, 2, n)).round(1),
    })  # fmt: skip
    return _text(folder, "marks.csv", frame.to_csv(index=False))


def plus_minus(folder: Path) -> Files:
    """Numbers with their errors."""
    rng, n = _rng(65), 140
    x = rng.normal(30, 6, n)
    frame = pd.DataFrame({
        "mass": [f"{v:.1f} ± {e:.1f}" for v, e in zip(x, rng.uniform(0.1, 0.9, n))],
        "charge": rng.integers(1, 4, n), "time": (3 * x + rng.normal(0, 8, n)).round(2),
    })  # fmt: skip
    return _text(folder, "peaks.csv", frame.to_csv(index=False))


def pivot_headers(folder: Path) -> Files:
    """Two rows of names, as pandas writes a pivot table."""
    rng, n = _rng(66), 130
    a, b = rng.normal(size=(2, n)).round(3)
    lines = ["site,temp,temp,rain,outcome", "name,mean,max,sum,flood"]
    flood = np.where(b + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    lines += [f"s{k},{a[k]},{(a[k] + abs(a[k - 1])).round(3)},{b[k]},{flood[k]}" for k in range(n)]
    return _text(folder, "pivot.csv", "\n".join(lines) + "\n")


def quoted_commas(folder: Path) -> Files:
    """Decimal commas in quotes, and commas between cells."""
    rng, n = _rng(67), 150
    x, z = rng.normal(5, 2, (2, n))
    y = 2 * x - z + rng.normal(0, 1, n)
    lines = ["lot,viscosity,density,strength"]
    for k in range(n):
        cells = [f'"{v:.2f}"'.replace(".", ",") for v in (x[k], z[k], y[k])]
        lines.append(",".join([f"L{k}", *cells]))
    return _text(folder, "lots.csv", "\n".join(lines) + "\n")


def numbers_as_text(folder: Path) -> Files:
    """A workbook whose numbers are texts, with blanks and decimal commas."""
    rng, n = _rng(68), 130
    area = rng.uniform(20, 200, n)
    frame = pd.DataFrame({
        "built": _days(rng, n, "1960-01-01", 20_000), "area": [f" {v:.1f} " for v in area],
        "rooms": [str(v) for v in rng.integers(1, 8, n)],
        "price": _comma(pd.Series(3.1 * area + rng.normal(0, 25, n)), 2),
    })  # fmt: skip
    path = folder / "homes.xlsx"
    frame.to_excel(path, index=False)
    return path, None


def refusals(folder: Path) -> Files:
    """Numbers, and four words for what was not answered."""
    rng, n = _rng(69), 220
    age = rng.integers(18, 90, n)
    words = np.array(["refused", "don't know", "not asked", "no answer"])
    hours = np.clip(rng.normal(14 - 0.12 * age, 2, n), 0, None).round(1).astype(object)
    lost = rng.random(n) < 0.12
    hours[lost] = words[rng.integers(0, 4, int(lost.sum()))]
    frame = pd.DataFrame({
        "age": age, "screen_hours": hours, "region": rng.choice(["N", "S", "E", "W"], n),
        "sleep": np.clip(9 - 0.02 * age + rng.normal(0, 0.4, n), 4, 12).round(1),
    })  # fmt: skip
    return _text(folder, "answers.csv", frame.to_csv(index=False))
