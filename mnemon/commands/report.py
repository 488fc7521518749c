"""``mnemon report``: tables and pictures of what ``mnemon run`` has left in a folder."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from mnemon.commands.page_tables import makers
from mnemon.errors import UserError
from mnemon.report.filling import fill
from mnemon.report.results import Results, find_experiments, read_results
from mnemon.report.tables import document
from mnemon.training.files import write_atomically


@dataclass(frozen=True, kw_only=True)
class Report:
    """Show the experiments of a folder, ours beside the thesis's.

    Several make a site, chapter by chapter, in its folder report; one makes one page, and so do several with --out.
    Beside either there is a Markdown page.

    Example: mnemon report results
    For a page of your own: mnemon report results/hopfield-capacity --pictures docs/pictures, and
    mnemon report results --pages docs/*.md to make the tables of pages anew, between <!-- table: results NAME --> and
    <!-- end of table -->
    """

    folder: Annotated[Path, tyro.conf.Positional]
    """Folder of an experiment, or of several."""
    out: Path | None = None
    """One HTML page for all, the Markdown page being beside it; report.html for a single experiment by default."""
    pictures: Path | None = None
    """Write the pictures as SVG files, NAME.svg for each experiment, into this folder as well."""
    pages: tuple[Path, ...] = ()
    """Write the tables within these Markdown pages, and nothing else."""
    json: bool = False
    """Print one JSON document, and write the pages only where --out is given."""

    def run(self) -> None:
        """Read the records, write the pages."""
        if self.pages:
            self._fill()
            return
        experiments = [read_results(folder) for folder in find_experiments(self.folder)]
        if self.json:
            documents = {"experiments": [document(results) for results in experiments]}
            print(json.dumps(documents, indent=2, ensure_ascii=False, allow_nan=False))
        if self.out is not None or self.pictures is not None or not self.json:
            self._write(experiments)

    def _fill(self) -> None:
        tables = makers(self.folder)
        filled = {page: fill(page.read_text(), tables) for page in self.pages}  # all before anything is written
        changed = {page: text for page, text in filled.items() if text != page.read_text()}
        for page, text in changed.items():
            write_atomically(page, text.encode())
        print(f"wrote {', '.join(map(str, changed)) or 'nothing: all tables are as on record'}", file=sys.stderr)

    def _write(self, experiments: list[Results]) -> None:
        try:
            from mnemon.report.page import write_markdown, write_pages, write_pictures  # matplotlib takes its time
            from mnemon.report.site import write_site
        except ImportError as error:
            raise UserError(f"the pages need {error.name}: pip install 'mnemon[viz]', or use --json") from error

        written: list[Path] = []
        if self.pictures is not None:
            written += write_pictures(experiments, self.pictures)
        if self.out is None and not self.json and len(experiments) > 1:
            written += write_site(experiments, self.folder / "report")
            written.append(write_markdown(experiments, self.folder / "report.md"))
        elif self.out is not None or not self.json:
            out = self.out or self.folder / "report.html"
            write_pages(experiments, out)
            written += [out, out.with_suffix(".md")]
        print(f"wrote {', '.join(map(str, written))}", file=sys.stderr)
