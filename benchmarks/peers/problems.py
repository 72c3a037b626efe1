"""Problems of the peer benchmark: selection designs, and two at the sizes users ask about."""

from __future__ import annotations

from selection.designs import DESIGNS, Maker, additive, many_correlated

PROBLEMS: dict[str, tuple[str, Maker]] = {
    "add200": ("five curves, 200 x 200", DESIGNS["add200"]),
    "fried": ("Friedman, 200 x 100", DESIGNS["fried"]),
    "xor": ("product of two, labels, 200 x 50", DESIGNS["xor"]),
    "circ40": ("circles, labels, 40 x 200", DESIGNS["circ40"]),
    "lin1000": ("ten lines, 100 x 1,000", DESIGNS["lin1000"]),
    "snp": ("genotypes, 200 x 300", DESIGNS["snp"]),
    "clus": ("clusters in five, labels, 500 x 300", DESIGNS["clus"]),
    "wide": ("five curves, 200 x 1,000", lambda seed: additive(seed, p=1_000)),
    "genes": (
        "two of five hidden factors, 60 noisy columns each, 60 x 20,000",
        lambda seed: many_correlated(seed, n=60, p=20_000),
    ),
}
