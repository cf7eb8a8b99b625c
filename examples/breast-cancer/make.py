"""Makes labels.csv and results/*.csv of this example from the data set that scikit-learn ships; run by hand.

Every model predicts each item from the other nine folds. Another version of scikit-learn may change the last digits,
so the files are committed, and what is committed is the example.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

FOLDER = Path(__file__).parent
N_FOLDS, RNG_SEED = 10, 1234
N_DECIMALS = 6
ONE_FEATURE = "mean smoothness"


def main() -> None:
    """Write the labels and the predictions of each model."""
    given = load_breast_cancer()
    # scikit-learn codes benign as 1; the class whose probability is predicted here is malignant.
    is_malignant = 1 - given.target
    items = [f"wdbc-{number:03}" for number in range(1, len(is_malignant) + 1)]
    classes = ["malignant" if malignant else "benign" for malignant in is_malignant]
    write(FOLDER / "labels.csv", ["item", "label"], zip(items, classes, strict=True))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=RNG_SEED)
    for name, model in models(list(given.feature_names)).items():
        probability = cross_val_predict(model, given.data, is_malignant, cv=folds, method="predict_proba")[:, 1]
        written = (f"{value:.{N_DECIMALS}f}" for value in probability)
        write(FOLDER / "results" / f"{name}.csv", ["item", "prediction"], zip(items, written, strict=True))


def models(features: Sequence[str]) -> dict[str, object]:
    """Return the three models: all features, one cut, and one weak feature."""
    position = features.index(ONE_FEATURE)
    only_one = FunctionTransformer(lambda rows: rows[:, [position]])
    return {
        "logistic-regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "decision-stump": DecisionTreeClassifier(max_depth=1, random_state=RNG_SEED),
        "one-feature": make_pipeline(only_one, GaussianNB()),
    }


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV."""
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
