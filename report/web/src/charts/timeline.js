// Who was there when: a row for each process. With a trace, what it was doing.
import { digits, percent, plural, seconds, timeUnit } from '../format.js';
import { FONT } from '../theme.js';
import { axis, base, label, legend, NARROW, rows, tooltip } from './common.js';

const MOST = 48;
/* Phases are pale, so that the MPI share stands out. */
const PHASE = 0.55;
const OTHERS = 'other phases';
const MPI = 'MPI share';

/* Spans of each process: from the trace what it did, else which rank it was. */
function spansOf(model) {
    return model.timeline ? model.timeline.spans
        : model.processes.reduce((all, { process, ranks }) => all.concat(ranks.map(({ rank, size, begin, end }) =>
            ({ process, begin, end, kind: 'rank', name: `rank ${rank} of ${size}` }))), []);
}

function lead(model) {
    const active = model.processes.filter(({ ranks }) => ranks.length > 0).length;
    const idle = model.processes.length - active;
    return `${plural(active, 'process', 'processes')} took part in the job` +
        (idle > 0 ? `, ${plural(idle, 'other')} stood by all the time.` : '.') +
        (model.timeline ? ` ${model.timeline.note}` : '') +
        (model.processes.length > MOST ? ` The chart shows the first ${MOST}.` : '');
}

function table(model) {
    const hosts = {};
    model.processes.forEach(({ process, host, pid }) => { hosts[process] = [host, pid]; });
    return {
        columns: [['process'], ['host'], ['pid'], ['begin', 's'], ['end', 's'], ['what'], ['kind'], ['mpi share', '%']],
        rows: spansOf(model).map(({ process, begin, end, name, kind, mpi }) => [process, ...(hosts[process] || [null, null]), begin, end, name, kind, mpi]),
    };
}

const missing = (model) => spansOf(model).length === 0 ? 'It is not known which process was there when.' : null;

/* Which phases have a colour of their own: those with the most time. Orange is MPI's. */
function coloursOf(spans, theme) {
    const times = {};
    spans.filter(({ kind }) => kind === 'phase').forEach(({ name, begin, end }) => { times[name] = (times[name] || 0) + end - begin; });
    const names = Object.keys(times).sort((a, b) => times[b] - times[a]);
    const palette = theme.series.filter((color, index) => index !== 1);
    const own = names.length > palette.length ? names.slice(0, palette.length - 1) : names;
    const colors = {};
    own.forEach((name, index) => { colors[name] = palette[index]; });
    return { colors, others: names.length > own.length };
}

/* The group that a span is drawn and named with in the legend. */
function groupOf(span, colors) {
    if (span.kind !== 'phase')
        return span.kind;
    return colors[span.name] ? span.name : OTHERS;
}

/* A span: a box as high as its row; what was not sampled but is known exactly, the resizes, can always be seen. */
function box(span, api, { unit, row, height, color, opacity, theme }) {
    const [x, y] = api.coord([span.begin / unit.factor, row]);
    const right = api.coord([span.end / unit.factor, row])[0];
    const isRank = span.kind === 'rank';
    const wide = isRank && right - x > 7 * span.name.length + 8 && height > 16;
    return { type: 'rect', shape: { x, y: y - height / 2 + 2, width: Math.max(1.5, right - x - (isRank ? 2 : 0)), height: height - 4 },
        style: { fill: color, fillOpacity: opacity },
        textContent: wide ? { style: { text: span.name, fill: theme.text, font: `11px ${FONT}` } } : undefined,
        textConfig: { position: 'inside' } };
}

/* The MPI share: an area from the row's lower edge up. */
function area({ ratios }, step, api, { unit, row, height, theme }) {
    const points = [];
    const bottom = api.coord([0, row])[1] + height / 2 - 2;
    const at = (index) => api.coord([index * step / unit.factor, row])[0];
    ratios.forEach((ratio, index) => {
        const y = bottom - (ratio || 0) * (height - 4);
        points.push([at(index), y], [at(index + 1), y]);
    });
    return { type: 'polygon', silent: true, shape: { points: [[at(0), bottom], ...points, [at(ratios.length), bottom]] },
        style: { fill: theme.mpi, fillOpacity: 0.95 } };
}

function shareSeries(model, place, look) {
    const { shares, step } = model.timeline;
    const shown = shares.filter(({ process }) => place[process] !== undefined);
    return { name: MPI, type: 'custom', silent: true, clip: true, z: 3, itemStyle: { color: look.theme.mpi },
        data: shown.map(({ process }) => [0, place[process]]),
        renderItem: ({ dataIndex }, api) => area(shown[dataIndex], step, api, { ...look, row: place[shown[dataIndex].process] }) };
}

function option(model, { width, theme }) {
    const shown = model.processes.slice(0, MOST);
    const place = {};
    shown.forEach(({ process }, index) => { place[process] = index; });
    const spans = spansOf(model).filter(({ process }) => place[process] !== undefined);
    const end = Math.max(model.duration, ...spans.map((span) => span.end)) || 1;
    const unit = timeUnit([end]);
    const { colors, others } = coloursOf(spans, theme);
    const traced = Boolean(model.timeline);
    const names = traced ? [...Object.keys(colors), ...(others ? [OTHERS] : []), 'resize'] : ['rank'];
    const fill = { ...colors, [OTHERS]: theme.quiet, resize: theme.muted, rank: theme.compute };
    const strength = (name) => (name === 'rank' ? 0.25 : name === 'resize' ? 1 : PHASE);
    const height = shown.length > 16 ? 14 : traced ? 30 : 22;
    const look = { unit, height, theme };
    const groups = names.map((name) => spans.filter((span) => groupOf(span, colors) === name));
    const top = traced ? 34 + (width < NARROW ? 24 * Math.ceil(names.length / 3) : 0) : 8;
    return { height: top + 44 + height * shown.length, option: base(theme, {
        legend: traced ? legend(theme, [...names, MPI]) : { show: false },
        tooltip: tooltip(theme, ({ seriesIndex, dataIndex }) => {
            const span = groups[seriesIndex][dataIndex];
            return [`process ${span.process}: ${span.name}`, `${seconds(span.begin)} to ${seconds(span.end)}`,
                typeof span.mpi === 'number' && `MPI ${percent(span.mpi)}`];
        }),
        grid: { left: 8, right: 16, top, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, max: end / unit.factor, name: `time (${unit.name})`, nameGap: 26,
            axisLabel: label(theme, { formatter: (value) => digits(value), hideOverlap: true, showMaxLabel: false }) }),
        yAxis: rows(theme, shown.map(({ process }) => `process ${process}`), { axisLabel: { fontSize: height > 16 ? 12 : 10, hideOverlap: true } }),
        series: [...names.map((name, index) => ({
            name, type: 'custom', clip: true, z: name === 'resize' ? 4 : 2, itemStyle: { color: fill[name], opacity: strength(name) }, encode: { x: [0, 1], y: 2 },
            data: groups[index].map(({ begin, end: last, process }) => [begin / unit.factor, last / unit.factor, place[process]]),
            renderItem: ({ dataIndex }, api) => {
                const span = groups[index][dataIndex];
                return box(span, api, { ...look, row: place[span.process], color: fill[name], opacity: strength(name) });
            },
        })), ...(traced ? [shareSeries(model, place, look)] : [])],
    }) };
}

export default {
    name: 'timeline', title: 'Processes over time', lead, table, missing, option,
    caption: 'A row per process; it keeps its row when its rank changes. Where there is no bar it was not part of the world: not yet started, ' +
        'standing by, or gone. With a trace, bars are phases and resizes, and the height of the orange area is the MPI share at that time.',
};
