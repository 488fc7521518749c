"""The experiments by name: what ``mnemon run`` runs, one for each table or figure of the thesis."""

from mnemon.errors import look_up
from mnemon.experiments.babi import BABI
from mnemon.experiments.babi_memory_networks import BABI_MEMORY_NETWORKS
from mnemon.experiments.big_memory import BIG_MEMORY
from mnemon.experiments.continual import CONTINUAL
from mnemon.experiments.contribution_decay import CONTRIBUTION_DECAY
from mnemon.experiments.dialogue import DIALOGUE, DIALOGUE_SAMPLES
from mnemon.experiments.documents import DOCUMENTS
from mnemon.experiments.fisher_curves import FISHER_CURVES
from mnemon.experiments.gradient_flow import GRADIENT_FLOW
from mnemon.experiments.health_records import DISEASE_PROGRESSION, DRUG_PRESCRIPTION, TREATMENT
from mnemon.experiments.holographic_noise import HOLOGRAPHIC_NOISE
from mnemon.experiments.hopfield_capacity import HOPFIELD_CAPACITY
from mnemon.experiments.inside_memories import READ_MODES, WRITE_GATES
from mnemon.experiments.memorisation import MEMORISATION
from mnemon.experiments.multi_modal import MODE_USAGE, MULTI_MODAL
from mnemon.experiments.multi_query_recall import ASSOCIATIVE_RECALL_MQAR
from mnemon.experiments.ntm_tasks import NTM_SEQUENCING, NTM_SINGLE
from mnemon.experiments.odd_even import ODD_EVEN
from mnemon.experiments.omniglot import OMNIGLOT
from mnemon.experiments.pixel_mnist import PIXEL_MNIST
from mnemon.experiments.programs import PROGRAMS
from mnemon.experiments.reasoning import REASONING
from mnemon.experiments.sdm_recall import SDM_RECALL
from mnemon.experiments.semantic_stages import SEMANTIC_STAGES
from mnemon.experiments.sinusoid import SINUSOID
from mnemon.experiments.stack_transduction import STACK_TRANSDUCTION
from mnemon.experiments.state_clusters import STATE_CLUSTERS
from mnemon.experiments.sum_of_two import SUM_OF_TWO
from mnemon.experiments.uw_ablation import UW_ABLATION
from mnemon.experiments.writing_behaviour import WRITING_BEHAVIOUR
from mnemon.runner.job import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        UW_ABLATION,
        MEMORISATION,
        CONTRIBUTION_DECAY,
        REASONING,
        SINUSOID,
        PIXEL_MNIST,
        DOCUMENTS,
        BIG_MEMORY,
        WRITING_BEHAVIOUR,
        NTM_SINGLE,
        NTM_SEQUENCING,
        PROGRAMS,
        STATE_CLUSTERS,
        CONTINUAL,
        OMNIGLOT,
        BABI,
        BABI_MEMORY_NETWORKS,
        ODD_EVEN,
        SUM_OF_TWO,
        TREATMENT,
        DRUG_PRESCRIPTION,
        DISEASE_PROGRESSION,
        STACK_TRANSDUCTION,
        READ_MODES,
        WRITE_GATES,
        HOPFIELD_CAPACITY,
        HOLOGRAPHIC_NOISE,
        SDM_RECALL,
        FISHER_CURVES,
        SEMANTIC_STAGES,
        GRADIENT_FLOW,
        ASSOCIATIVE_RECALL_MQAR,
        MULTI_MODAL,
        MODE_USAGE,
        DIALOGUE,
        DIALOGUE_SAMPLES,
    )
}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    return look_up(EXPERIMENTS, name, "experiment")
