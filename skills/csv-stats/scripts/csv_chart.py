#!/usr/bin/env python3
"""Draw a bar or line chart from a CSV or TSV file, as SVG.

Rows with the same --x value are combined with --agg. Bars keep the order of
the file; a line is ordered by x when x holds numbers or ISO dates.
"""

import sys

sys.dont_write_bytecode = True

import math
from html import escape

import csv_source
from csv_source import InputProblem, clean, note

WIDTH, HEIGHT = 800, 450
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 60, 100
MAX_BARS, MAX_POINTS = 40, 2_000
# Okabe and Ito's palette: told apart with colour-blind eyes too.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")

EPILOG = """\
examples:
  csv_chart.py assets/sales.csv --x region --y amount --output out/by_region.svg
  csv_chart.py assets/sales.csv --kind line --x date --y amount --output out/trend.svg

exit status: 0 done, 1 the input cannot be used, 2 wrong usage,
             3 the chart leaves out bars (see --limit)"""


def main():
    arguments = read_arguments()
    labels, series = collect(arguments)
    if not labels:
        raise InputProblem("there is nothing to draw: no row has a number in the chosen columns")
    total, positions = len(labels), None
    if arguments.kind == "bar":
        if arguments.sort == "value":
            labels.sort(key=lambda label: -series[0][1].get(label, -math.inf))
        labels = labels[: arguments.limit]
    elif total > MAX_POINTS:
        raise InputProblem(f"{total} points are too many for a line (at most {MAX_POINTS}); group the rows first")
    else:
        positions, labels = order_points(arguments, labels)
    csv_source.emit(draw(arguments, labels, positions, series), arguments.output)
    if len(labels) < total:
        note(f"the chart shows {len(labels)} of {total} bars; use --limit or --sort value to choose")
        return csv_source.EXIT_PARTIAL
    return 0


def read_arguments():
    parser = csv_source.parser(__doc__, EPILOG)
    parser.add_argument("--kind", choices=("bar", "line"), default="bar")
    parser.add_argument("--x", required=True, metavar="COLUMN", help="labels of the bars or points")
    parser.add_argument("--y", action="append", default=[], metavar="COLUMN", help="heights; up to 6 times")
    parser.add_argument("--agg", choices=(*AGGREGATES, "count"), default="sum", help="how rows with the same x combine")
    parser.add_argument("--sort", choices=("file", "value"), default="file", help="order of bars")
    parser.add_argument("--limit", type=int, default=MAX_BARS, help=f"most bars to draw (default {MAX_BARS})")
    parser.add_argument("--title", help="default: made from the columns")
    csv_source.add_reading_options(parser)
    arguments = parser.parse_args()
    if not 1 <= arguments.limit <= 200:
        parser.error("--limit must be between 1 and 200")
    if arguments.agg != "count" and not 1 <= len(arguments.y) <= len(COLOURS):
        parser.error(f"give --y once to {len(COLOURS)} times, or --agg count")
    return arguments


def collect(arguments):
    """Returns the labels and, for each series, (name, {label: value})."""
    table = csv_source.Table(arguments)
    x, ys = table.column(arguments.x), [table.column(name) for name in arguments.y]
    counting = arguments.agg == "count"
    series = [("rows", {})] if counting else [(table.columns[at], {}) for at in ys]
    labels = {}
    for row in table.rows():
        label = row[x].strip() or "(missing)"
        found = [1.0] if counting else [table.number(row[at]) for at in ys]
        for (_, values), number in zip(series, found):
            if number is not None:
                values.setdefault(label, []).append(float(number))
                labels[label] = True
        if len(labels) > 100_000:
            raise InputProblem(f"`{clean(arguments.x)}` has more than 100000 different values")
    table.notes()
    combine = AGGREGATES.get(arguments.agg, math.fsum)
    return list(labels), [(name, {label: combine(cells) for label, cells in values.items()}) for name, values in series]


AGGREGATES = {"sum": math.fsum, "mean": lambda cells: math.fsum(cells) / len(cells), "min": min, "max": max}


def order_points(arguments, labels):
    """Returns positions from 0 to 1, and the labels in that order."""
    places = [csv_source.Cells(arguments).classify(label)[1] for label in labels]
    if None in places:
        dates = all(csv_source.date_kind(label) != "text" for label in labels)
        places = [csv_source.moment(label).timestamp() if dates else at for at, label in enumerate(labels)]
    pairs = sorted(zip(map(float, places), labels))
    low, span = pairs[0][0], pairs[-1][0] - pairs[0][0]
    return [(place - low) / span if span else 0.5 for place, _ in pairs], [label for _, label in pairs]


def draw(arguments, labels, positions, series):
    """Returns the SVG. `positions` is None for bars."""
    found = [values[label] for _, values in series for label in labels if label in values]
    ticks = nice_ticks(min(found), max(found), from_zero=positions is None)
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def height_of(value):
        return TOP + plot_height * (ticks[-1] - value) / (ticks[-1] - ticks[0])

    if positions is None:
        centres = [LEFT + plot_width * (at + 0.5) / len(labels) for at in range(len(labels))]
        marks = bars(labels, centres, plot_width / len(labels) * 0.8, series, height_of)
    else:
        centres = [LEFT + 10 + (plot_width - 20) * position for position in positions]
        marks = lines(labels, centres, series, height_of)
    title = arguments.title or f"{arguments.agg} of {', '.join(name for name, _ in series)} by {arguments.x}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'role="img" font-family="sans-serif" font-size="12" fill="#222">',
            f"<title>{text(title, 200)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
            f'<text x="{LEFT}" y="24" font-size="16" font-weight="bold">{text(title, 80)}</text>',
            *(legend(series) if len(series) > 1 else ()),
            *axis(ticks, height_of),
            *marks,
            *label_texts(labels, centres),
            "</svg>",
        ]
    )


def nice_ticks(low, high, from_zero):
    """Returns 4 to 9 round values around the range."""
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / 6
    if not math.isfinite(rough) or rough == 0:
        raise InputProblem("the values are too large or too close together to draw")
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough)
    return [at * step for at in range(math.floor(low / step), math.ceil(high / step) + 1)]


def axis(ticks, height_of):
    for tick in ticks:
        y = height_of(tick)
        colour = "#888" if tick == 0 else "#ddd"
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:,.10g}</text>'


def legend(series):
    for at, ((name, _), colour) in enumerate(zip(series, COLOURS)):
        x = LEFT + 115 * at
        yield f'<rect x="{x}" y="36" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{x + 15}" y="45">{text(name, 14)}</text>'


def bars(labels, centres, width, series, height_of):
    each = width / len(series)
    for place, ((name, values), colour) in enumerate(zip(series, COLOURS)):
        for label, centre in zip(labels, centres):
            if label in values:
                top, bottom = sorted((height_of(values[label]), height_of(0)))
                size = f'x="{centre - width / 2 + place * each:.1f}" y="{top:.1f}" width="{each:.1f}" height="{bottom - top:.1f}"'
                yield f'<rect {size} fill="{colour}">{hint(label, name, values)}</rect>'


def lines(labels, centres, series, height_of):
    for (name, values), colour in zip(series, COLOURS):
        points = [(x, height_of(values[label]), label) for label, x in zip(labels, centres) if label in values]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
        for x, y, label in points if len(points) <= 100 else ():
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}">{hint(label, name, values)}</circle>'


def hint(label, name, values):
    return f"<title>{text(label, 80)}, {text(name, 40)}: {values[label]:.15g}</title>"


def label_texts(labels, centres):
    """Labels below the axis, leaving out those that would overlap."""
    longest = max(min(len(label), 18) for label in labels)
    flat = longest * 7 < (WIDTH - LEFT - RIGHT) / len(labels)
    y, last = HEIGHT - BOTTOM + 18, -math.inf
    for label, x in zip(labels, centres):
        if flat or x - last >= 15:
            turn = 'text-anchor="middle"' if flat else f'text-anchor="end" transform="rotate(-40 {x:.1f} {y})"'
            yield f'<text x="{x:.1f}" y="{y}" {turn}>{text(label, 18)}</text>'
            last = x


def text(value, width):
    return escape(clean(value, width))


if __name__ == "__main__":
    csv_source.run(main)
