// A table or figure of the paper: panels with the paper's values and those from here, which share colours and units.
import { digits, plural, seconds, shorten } from '../format.js';
import { FONT } from '../theme.js';
import { axis, base, decades, label, legend, NARROW, rows, SYMBOLS, tooltip } from '../charts/common.js';

const GAP = 64; /* between panels that stand below each other: an axis with its name, and a title */
const flat = (lists) => lists.reduce((all, list) => all.concat(list), []);
/* By size if they are numbers, else as they came. */
const ordered = (names) => names.every((name) => name !== '' && isFinite(name)) ? names.slice().sort((a, b) => a - b) : names;
const once = (list) => list.filter((value, index) => list.indexOf(value) === index);
const show = (unit) => (value) => typeof value === 'string' ? value : unit === 's' ? seconds(value) : digits(value);
const pointsOf = (panel) => flat(panel.series.map(({ points }) => points));
const numbers = (points, index) => points.map((point) => point[index]).filter((value) => typeof value === 'number');

/* Lines break where the next name has no room; as wide as letters can be. */
function legendLines(names, width) {
    let lines = 1;
    let used = 0;
    names.forEach((name) => {
        const wide = 42 + 8 * name.length;
        if (used > 0 && used + wide > width) {
            lines++;
            used = 0;
        }
        used += wide;
    });
    return lines;
}

/* ---- Axes ---- */

/* Linear from 0 or below; logarithmic over whole decades, but for sizes that are powers of two. */
function scale(values, isLog, format) {
    if (!isLog)
        return { type: 'value', min: Math.min(0, ...values), splitNumber: 4, axisLabel: { formatter: format } };
    const positive = values.filter((value) => value > 0);
    return { type: 'log', logBase: 10, ...(positive.length > 0 ? decades(positive) : { min: 0.1, max: 1 }), axisLabel: { formatter: format } };
}

function sizes(values, format) {
    const customValues = once(values).sort((a, b) => a - b);
    const pad = customValues.length > 1 ? Math.pow(customValues[customValues.length - 1] / customValues[0], 0.05) : 2;
    return { type: 'log', logBase: 2, min: customValues[0] / pad, max: customValues[customValues.length - 1] * pad,
        axisTick: { customValues }, axisLabel: { formatter: format, customValues } };
}

function axisOf(theme, values, isLog, format, more) {
    const positive = values.every((value) => value > 0);
    const found = isLog && positive && once(values).length <= 12 ? sizes(values, format) : scale(values, isLog && values.some((value) => value > 0), format);
    return axis(theme, { ...found, ...more, axisLabel: label(theme, { hideOverlap: true, ...found.axisLabel, ...(more && more.axisLabel) }) });
}

/* With what a line shows, as its vertical axis has no other name; rows have theirs. */
const titleOf = (chart, panel) => chart.draw === 'lines' || chart.draw === 'steps' ? `${panel.title}: ${chart.y}` : panel.title;
/* A panel's title is the name of its vertical axis, above it. */
const titled = (theme, title, left) => ({ name: title, nameLocation: 'end', nameGap: 10,
    nameTextStyle: label(theme, { align: 'left', color: theme.text, fontWeight: 'bold', padding: [0, 0, 0, -left] }) });

/* ---- Panels ---- */

const drawable = (chart, points) => points.filter(([x, y]) => (typeof x === 'string' || chart.log.indexOf('x') < 0 || x > 0) && (chart.log.indexOf('y') < 0 || y > 0));
const LEFT = 58;

/* Lines or steps over numbers. */
function linePanel(chart, panel, { index, theme, look, title }) {
    const points = pointsOf(panel);
    return {
        height: 170, left: LEFT,
        x: axisOf(theme, numbers(points, 0), chart.log.indexOf('x') >= 0, show(chart.x_unit), { gridIndex: index, name: chart.x, nameGap: 24, splitLine: { show: false } }),
        y: axis(theme, { ...scale(numbers(points, 1), chart.log.indexOf('y') >= 0, show(chart.unit)), gridIndex: index, ...titled(theme, title, LEFT - 4),
            axisLabel: label(theme, { hideOverlap: true, formatter: show(chart.unit) }) }),
        series: panel.series.map(({ name, points: own }) => ({
            name, type: 'line', step: chart.draw === 'steps' ? 'end' : false, symbol: own.length > 40 ? 'none' : look(name).symbol, symbolSize: 6,
            itemStyle: { color: look(name).color }, lineStyle: { color: look(name).color, width: 1.5, type: look(name).line }, data: drawable(chart, own),
        })),
    };
}

/* Values of names, which are rows. */
function dotPanel(chart, panel, { index, theme, look, title, wide }) {
    const names = once(pointsOf(panel).map(([name]) => String(name)));
    const most = wide < 420 ? 14 : 26;
    const left = 16 + 7 * Math.min(most, Math.max(...names.map((name) => name.length)));
    return {
        height: 22 * names.length, left,
        x: axis(theme, { ...scale(numbers(pointsOf(panel), 1), chart.log.indexOf('y') >= 0, show(chart.unit)), gridIndex: index, name: chart.y, nameGap: 24,
            axisLabel: label(theme, { hideOverlap: true, formatter: show(chart.unit) }) }),
        y: rows(theme, names.map((name) => shorten(name, most)), { gridIndex: index, ...titled(theme, title, left - 4), nameLocation: 'start', splitLine: { show: true, lineStyle: { color: theme.faint } } }),
        series: panel.series.map(({ name, points: own }) => ({
            name, type: 'scatter', symbol: look(name).symbol, symbolSize: 9, itemStyle: { color: look(name).color, opacity: 0.9 },
            data: drawable(chart, own).map(([row, value]) => ({ value: [value, names.indexOf(String(row))], row: String(row) })),
        })),
    };
}

/* Words in a grid, equal ones in one colour. */
function gridPanel(chart, panel, { index, theme, title, words }) {
    const cells = pointsOf(panel);
    const columns = ordered(once(cells.map(([x]) => x)));
    const lines = ordered(once(cells.map(([, y]) => y)));
    const left = 16 + 7 * Math.min(20, Math.max(...lines.map((line) => line.length)));
    const cell = ({ coord, size, data }) => [
        { type: 'rect', shape: { x: coord[0] - size[0] / 2 + 1, y: coord[1] - size[1] / 2 + 1, width: size[0] - 2, height: size[1] - 2 },
            style: { fill: theme.series[words.indexOf(data.word) % theme.series.length], fillOpacity: 0.18 } },
        { type: 'text', style: { x: coord[0], y: coord[1], text: data.word, fill: theme.text, align: 'center', verticalAlign: 'middle', font: `11px ${FONT}` } },
    ];
    const data = cells.map(([x, y, word]) => ({ value: [columns.indexOf(x), lines.indexOf(y)], word, x, y }));
    return {
        height: 26 * lines.length, left,
        x: axis(theme, { type: 'category', data: columns, gridIndex: index, name: chart.x, nameGap: 24, axisTick: { show: false }, splitLine: { show: false } }),
        y: rows(theme, lines.map((line) => shorten(line, 20)), { gridIndex: index, ...titled(theme, title, left - 4), nameLocation: 'start' }),
        series: [{ name: panel.series[0].name, type: 'custom', data, renderItem: (params, api) => ({ type: 'group', children: cell({
            coord: api.coord([api.value(0), api.value(1)]), size: api.size([1, 1]), data: data[params.dataIndex] }) }) }],
    };
}

const PANELS = { lines: linePanel, steps: linePanel, dots: dotPanel, grid: gridPanel };

/* ---- A chart ---- */

/* Each name has its colour and symbol in all panels. */
function looks(theme, names) {
    return (name) => {
        const place = names.indexOf(name);
        return { color: theme.series[place % theme.series.length], symbol: SYMBOLS[place % SYMBOLS.length], line: place < theme.series.length ? 'solid' : 'dashed' };
    };
}

/* Two beside each other where there is room; [{panel, x, y, height}] and the height of all. */
function place(panels, { top, width, wide }) {
    let y = top;
    const places = [];
    const columns = wide < width ? 2 : 1;
    for (let first = 0; first < panels.length; first += columns) {
        const row = panels.slice(first, first + columns);
        row.forEach((panel, column) => places.push({ left: column * wide + panel.left, top: y, width: wide - panel.left - 18, height: panel.height }));
        y += Math.max(...row.map(({ height }) => height)) + GAP;
    }
    return { places, height: y };
}

function option(chart, { width, theme }) {
    const names = chart.draw === 'grid' ? [] : once(flat(chart.panels.map(({ series }) => series.map(({ name }) => name))));
    const words = once(flat(chart.panels.map(pointsOf)).map(([, , word]) => word));
    const wide = width >= 640 && chart.panels.length > 1 ? width / 2 : width;
    const look = looks(theme, names);
    const panels = chart.panels.map((panel, index) => PANELS[chart.draw](chart, panel, {
        index, theme, look, words, wide, title: shorten(titleOf(chart, panel), Math.floor((wide - 20) / 8)) }));
    const top = 26 + (names.length > 1 ? 30 * legendLines(names, width) - 8 : 0);
    const { places, height } = place(panels, { top, width, wide });
    return { height, option: base(theme, {
        legend: names.length > 1 ? { ...legend(theme, names.map((name) => ({ name, icon: look(name).symbol }))), width: width - 8 } : { show: false },
        tooltip: tooltip(theme, ({ seriesName, data, value }) => chart.draw === 'grid' ? [`${chart.y} ${data.y}, ${chart.x} ${data.x}`, data.word]
            : chart.draw === 'dots' ? [seriesName, data.row, show(chart.unit)(value[0])]
                : [seriesName, `${chart.x}: ${show(chart.x_unit)(value[0])}`, `${chart.y}: ${show(chart.unit)(value[1])}`]),
        grid: places,
        xAxis: panels.map(({ x }) => x), yAxis: panels.map(({ y }) => y),
        series: flat(panels.map(({ series }, index) => series.map((it) => ({ ...it, xAxisIndex: index, yAxisIndex: index })))),
    }) };
}

function table(chart) {
    const cells = flat(chart.panels.map((panel) => flat(panel.series.map(({ name, points }) => points.map((point) => [panel.title, name, ...point])))));
    return chart.draw === 'grid' ? { columns: [['panel'], ['series'], [chart.x], [chart.y], ['what']], rows: cells }
        : { columns: [['panel'], ['series'], [chart.x, chart.x_unit === 's' ? 'time' : ''], [chart.y, chart.unit]], rows: cells };
}

const overOf = ({ x, y }) => `The chart shows ${y} over ${x}.`;

function lead({ claims, text, charts: [first] }) {
    const says = text || overOf(first);
    const looked = claims.filter(({ agrees }) => agrees !== null);
    const yes = looked.filter(({ agrees }) => agrees).length;
    return looked.length === 0 ? says : `${says} ${plural(yes, 'claim')} of ${looked.length} ${yes === 1 ? 'agrees' : 'agree'}.`;
}

const CAPTIONS = { lines: 'A line for each series.', steps: 'A line for each series, which holds its value until the next.', dots: 'A row for each, with a mark for each series.',
    grid: 'Equal words have one colour.' };

/* The first one is called as the item. */
export function charts(item) {
    return item.charts.map((chart, index) => ({
        name: index === 0 ? item.name : `${item.name}-${index + 1}`, title: `${item.of}: ${item.title}${index === 0 ? '' : ` (${index + 1})`}`,
        lead: () => index === 0 ? lead(item) : overOf(chart), caption: CAPTIONS[chart.draw],
        table: () => table(chart), option: (model, how) => option(chart, how),
    }));
}
