"""The page around a report: one HTML file with its style inside, for a screen, light or dark, and for paper."""

from collections.abc import Iterable, Sequence

from bayeswater.markup import Safe, markup

STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --faint: #667085; --ground: #fff; --edge: #d5dae3; --accent: #0072b2;
  --second: #d55e00; --tint: 0, 114, 178; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --faint: #98a2b3; --ground: #14181f; --edge: #384152;
  --accent: #56b4e9; --second: #e69f00; --tint: 86, 180, 233; } }
@page { margin: 15mm; }
body { font: 14px/1.45 system-ui, "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif; color: var(--ink);
  background: var(--ground); max-width: 60rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: break-word; }
h1 { font-size: 1.6em; margin: 0 0 .6em; } h2 { font-size: 1.15em; margin: 1.8em 0 .4em;
  border-bottom: 1px solid var(--edge); } h3 { font-size: 1em; margin: 1.2em 0 .2em; }
p { margin: .4em 0; max-width: 46rem; } .note, footer { color: var(--faint); font-size: .92em; } b { font-weight: 600; }
pre { white-space: pre-wrap; }
table { border-collapse: collapse; margin: .5em 0; } th, td { padding: 2px 12px 2px 0; text-align: left;
  vertical-align: baseline; font-weight: 400; } thead th { color: var(--faint); font-size: .92em; }
td { font-variant-numeric: tabular-nums; } tbody tr { border-top: 1px solid var(--edge); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figcaption { font-size: .88em; color: var(--faint); }
svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--edge); stroke-width: .7; } .curve { fill: none; stroke: var(--accent); stroke-width: 2; }
.beside { fill: none; stroke: var(--second); stroke-width: 1.6; stroke-dasharray: 5 3; } .dot { fill: var(--accent); }
.diagonal { fill: none; stroke: var(--faint); stroke-dasharray: 2 3; } .scale, .stop { stroke: var(--ink); }
text { fill: var(--ink); font-family: inherit; }
.label { font-size: 9px; fill: var(--faint); } .name { font-size: 11px; }
.scroll { overflow-x: auto; } .cell { display: inline-block; min-width: 3.2em; padding: 0 .4em; border-radius: 3px; }
@media print { :root { color-scheme: light; --ink: #000; --faint: #444; --ground: #fff; --edge: #bbb; --accent: #0072b2;
  --second: #d55e00; --tint: 0, 114, 178; } section, .plot, tr { break-inside: avoid; }
  .sheet svg { max-height: var(--tall); } /* a nomogram and its list on one page */
  body { font-size: 10.5px; padding: 0; } * { print-color-adjust: exact; } }
"""


def page(title: str, sections: Iterable[Safe], foot: str, lang: str) -> str:
    """Put sections under a title into one file."""
    return (
        f'<!doctype html>\n<html lang="{"zh-Hans" if lang == "zh" else "en"}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{markup(title)}</title><style>{STYLE}</style></head><body><h1>{markup(title)}</h1>"
        f"{''.join(sections)}<footer><p>{markup(foot)}</p></footer></body></html>\n"
    )


def section(title: str, *parts: str) -> Safe:
    """Put parts under a head of their own."""
    return Safe(f"<section><h2>{markup(title)}</h2>{''.join(markup(part) for part in parts)}</section>")


def subsection(title: str, *parts: str) -> Safe:
    """Put parts under a smaller head."""
    return Safe(f'<div class="plot"><h3>{markup(title)}</h3>{"".join(markup(part) for part in parts)}</div>')


def note(text: str) -> Safe:
    """Say something beside the matter."""
    return Safe(f'<p class="note">{markup(text)}</p>')


def figures(pictures: Sequence[tuple[str, str]]) -> Safe:
    """Put pictures with their captions side by side."""
    return Safe(
        '<div class="plots">'
        + "".join(
            f'<figure class="plot">{markup(picture)}<figcaption>{markup(caption)}</figcaption></figure>'
            for caption, picture in pictures
        )
        + "</div>"
    )


def scrolled(part: str) -> Safe:
    """Let something wide be scrolled on a small screen."""
    return Safe(f'<div class="scroll">{markup(part)}</div>')


def shaded(text: str, share: float) -> Safe:
    """Shade a cell by a share from 0 to 1."""
    return Safe(f'<span class="cell" style="background:rgba(var(--tint), {0.5 * share:.3f})">{markup(text)}</span>')
