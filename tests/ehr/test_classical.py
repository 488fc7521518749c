import numpy as np
import pytest
import torch

from mnemon.ehr.classical import GRIDS, STRATEGIES, bags, by_jaccard, choose_count, fit, labels, micro_auc, top_outputs
from mnemon.ehr.metrics import set_metrics
from mnemon.ehr.prepare import PrepareConfig, prepare
from mnemon.ehr.prepared import Prepared, load_prepared
from mnemon.ehr.sources import read_source
from mnemon.ehr.vocabulary import FIRST_CODE
from mnemon.errors import UserError
from tests.ehr.tiny_records import write_mimic3


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    folder = tmp_path_factory.mktemp("records")
    records = read_source(write_mimic3(folder / "source", patients=30))
    prepare(records, PrepareConfig(task="drugs-set"), folder / "out")
    return load_prepared(folder / "out")


def split_of(prepared: Prepared, name: str) -> tuple[object, np.ndarray]:
    visits = prepared.visits(name)
    return bags(prepared, visits), labels(prepared, visits)


def test_bags_against_a_loop(prepared: Prepared) -> None:
    visits = prepared.visits("valid")
    for views in (("diagnosis",), ("procedure",), ("diagnosis", "procedure"), ("procedure", "diagnosis")):
        dense = np.zeros((len(visits), sum(len(prepared.vocabularies[view]) for view in views)))
        for row, visit in enumerate(visits.tolist()):
            start = 0
            for view in views:
                for token in prepared.views[view].of(visit).tolist():
                    dense[row, start + token] += 1
                start += len(prepared.vocabularies[view])
        assert (bags(prepared, visits, views).toarray() == dense).all()
    assert bags(prepared, visits[:0]).shape[0] == 0
    with pytest.raises(UserError, match="no view of the input is called 'drug'"):
        bags(prepared, visits, ("drug",))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("classifier", [name for name in GRIDS if name != "frequency"])
def test_baselines_learn_and_repeat_themselves(classifier: str, strategy: str) -> None:
    random = np.random.default_rng(2)
    features = random.normal(size=(60, 4))
    wanted = features[:, :3] > 0
    if strategy == "joint" and classifier != "random-forest":
        with pytest.raises(UserError, match="has one label at a time: write strategy='binary-relevance'"):
            fit(classifier, strategy, (features, wanted), (features, wanted))
        return
    train, valid = (features[:40], wanted[:40]), (features[40:], wanted[40:])
    settings = {"C": (1.0,)} if "C" in GRIDS[classifier] else {"max_depth": (None,), "min_samples_leaf": (1,)}
    fitted = fit(classifier, strategy, train, valid, seed=3, grid=settings)
    scores = fitted.scores(valid[0])
    assert scores.shape == (20, 3)
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert fitted.score == micro_auc(scores, valid[1]) > 0.85
    again = fit(classifier, strategy, train, valid, seed=3, grid=settings)
    assert (again.scores(valid[0]) == scores).all()


@pytest.mark.parametrize("strategy", ["binary-relevance", "classifier-chain"])
def test_frequencies_are_those_of_training_whoever_is_asked_about(strategy: str) -> None:
    random = np.random.default_rng(1)
    features, wanted = random.random((40, 3)), random.random((40, 5)) < 0.3
    fitted = fit("frequency", strategy, (features, wanted), (features[:9], wanted[:9]))
    np.testing.assert_allclose(fitted.scores(random.random((7, 3))), np.tile(wanted.mean(0), (7, 1)))


def test_a_baseline_on_visits(prepared: Prepared) -> None:
    fitted = fit("logistic-regression", "binary-relevance", split_of(prepared, "train"), split_of(prepared, "valid"))
    features, wanted = split_of(prepared, "test")
    found = set_metrics(fitted.scores(features), wanted)
    assert found["samples"] == len(prepared.visits("test"))
    assert found["labels"] == prepared.labels == 8


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("varied", [0, 1, 2])
def test_labels_that_never_vary_in_training(strategy: str, varied: int) -> None:
    random = np.random.default_rng(0)
    features = random.random((20, 3))
    wanted = np.zeros((20, 5), dtype=bool)
    wanted[:, 1] = True
    wanted[:, 3 : 3 + varied] = features[:, :varied] > 0.5
    classifier = "random-forest" if strategy == "joint" else "logistic-regression"
    fitted = fit(classifier, strategy, (features, wanted), (features, wanted))
    scores = fitted.scores(features)
    assert (scores[:, [0, 2]] == 0).all()
    assert (scores[:, 1] == 1).all()
    for label in range(3, 3 + varied):
        assert len(set(scores[:, label].tolist())) > 1


def test_the_grid_is_searched_on_the_validation_split() -> None:
    random = np.random.default_rng(1)
    features = random.normal(size=(60, 2))
    wanted = np.stack([features[:, 0] > 0, features[:, 1] > 0], axis=1)
    tried: list[float] = []

    def choose(scores: np.ndarray, answers: np.ndarray) -> float:
        assert len(scores) == len(answers) == 20
        tried.append(float(np.abs(scores - 0.5).mean()))
        return -tried[-1]  # the least sure of itself

    fitted = fit(
        "logistic-regression",
        "binary-relevance",
        (features[:40], wanted[:40]),
        (features[40:], wanted[40:]),
        choose=choose,
    )
    assert len(tried) == 3
    assert fitted.settings == {"C": 0.01}
    assert fitted.score == -min(tried)


def test_the_top_outputs() -> None:
    scores = np.array([[0.1, 0.9, 0.5, 0.5], [0.2, 0.1, 0.0, 0.3]])
    assert top_outputs(scores, 3) == [[FIRST_CODE + label for label in row] for row in ([1, 2, 3], [3, 0, 1])]
    true = [[FIRST_CODE + 1, FIRST_CODE + 2], [FIRST_CODE + 3, FIRST_CODE + 0]]
    assert choose_count(scores, true) == 2
    wanted = np.array([[0, 1, 1, 0], [1, 0, 0, 1]], dtype=bool)
    assert by_jaccard(scores, wanted) == 1.0
    assert choose_count(scores, [[FIRST_CODE + 1], [FIRST_CODE + 3]]) == 1


def test_names_and_sizes_are_checked(prepared: Prepared) -> None:
    train = split_of(prepared, "train")
    with pytest.raises(UserError, match="no classifier is called 'logistic': write one of logistic-regression"):
        fit("logistic", "binary-relevance", train, train)
    with pytest.raises(UserError, match="no strategy is called 'chain'"):
        fit("svm", "chain", train, train)
    nothing = bags(prepared, torch.zeros(0, dtype=torch.long)), train[1][:0]
    with pytest.raises(UserError, match="a baseline needs admissions to train on and to choose by"):
        fit("svm", "binary-relevance", train, nothing)
