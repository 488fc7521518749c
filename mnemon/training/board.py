"""The records once more, for those who watch curves in TensorBoard."""

from pathlib import Path

from mnemon.training.record import Record


class TensorBoard:
    """Event files beside the records. Unlike these they hold times, and are never compared."""

    def __init__(self, folder: Path, first_step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        # What an earlier sitting wrote from here on was lost with it.
        self._writer = SummaryWriter(str(folder), purge_step=first_step)

    def add(self, record: Record) -> None:
        """One curve for the loss and one for each metric, under the name of the setting."""
        group = record.kind if record.test is None else f"{record.kind} {record.test}"
        for name, value in {"loss": record.loss, **record.metrics}.items():
            self._writer.add_scalar(f"{group}/{name}", value, record.step)

    def close(self) -> None:
        """Write what is still waiting."""
        self._writer.close()
