"""An explanation as one HTML page, without scripts and without anything from elsewhere."""

from html import escape

from mnemon.ehr.explanation import Event, Explanation

STYLE = """
:root { color-scheme: light dark; --bar: #0072b2; --fall: #d55e00; --line: #8884; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .5rem; }
tr { border-bottom: 1px solid var(--line); } td.number { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: inline-block; height: .7rem; background: var(--bar); vertical-align: middle; }
.fall { background: var(--fall); }
"""


def explanation_page(found: Explanation, target: str) -> str:
    """What is recommended, and what each event did."""
    title = f"{escape(target.capitalize())} for patient {escape(found.patient)}, visit {found.visit}"
    recommended = "".join(
        f"<tr><td>{escape(entry.code)}<td>{escape(entry.name)}<td class=number>{entry.probability:.3f}"
        f"<td>{_bar(entry.probability)}<td>{'in the records' if entry.true else ''}</tr>"
        for entry in found.recommended
    )
    most = max((abs(event.effect) for event in found.events), default=0.0) or 1.0
    events = "".join(_row(event, most) for event in sorted(found.events, key=lambda event: -abs(event.effect)))
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{STYLE}</style>
<h1>{title}</h1>
<h2>Recommended</h2>
<table><tr><th>code<th>name<th>probability<th><th></tr>{recommended}</table>
<h2>Why</h2>
<p>The effect of an event is how much the mean probability of what is recommended falls when the event is left out and
the model asked again. The write gate is how much of the event the memory was given; read is the share of what the
decoder read that comes from it. Neither tells by itself whether the event mattered.</p>
<table><tr><th>visit<th>view<th>code<th>name<th>write gate<th>read<th>effect<th></tr>{events}</table>
</html>
"""


def _row(event: Event, most: float) -> str:
    gate = "" if event.write_gate is None else f"{event.write_gate:.2f}"
    read = "" if event.read is None else f"{event.read:.2f}"
    return (
        f"<tr><td class=number>{event.visit}<td>{escape(event.view)}<td>{escape(event.code)}<td>{escape(event.name)}"
        f"<td class=number>{gate}<td class=number>{read}<td class=number>{event.effect:+.4f}"
        f"<td>{_bar(abs(event.effect) / most, falls=event.effect < 0)}</tr>"
    )


def _bar(share: float, *, falls: bool = False) -> str:
    return f'<span class="bar{" fall" if falls else ""}" style="width:{6 * max(0.0, min(1.0, share)):.2f}rem"></span>'
