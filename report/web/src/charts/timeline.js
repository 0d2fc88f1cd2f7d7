// Who was there when: a row for each process. With a trace, what it was doing.
import { plural, seconds, timeUnit, digits } from '../format.js';
import { FONT } from '../theme.js';
import { axis, base, label, legend, rows, tooltip } from './common.js';

const MOST = 48;

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
        columns: [['process'], ['host'], ['pid'], ['begin', 's'], ['end', 's'], ['what'], ['kind']],
        rows: spansOf(model).map(({ process, begin, end, name, kind }) => [process, ...(hosts[process] || [null, null]), begin, end, name, kind]),
    };
}

const missing = (model) => spansOf(model).length === 0 ? 'It is not known which process was there when.' : null;

/* A colour for each kind of span, and each phase. */
function looks(spans, theme) {
    const names = spans.map(({ kind, name }) => kind === 'phase' ? name : kind)
        .filter((it, index, all) => all.indexOf(it) === index);
    const fixed = { rank: theme.compute, resize: theme.mpi, mpi: theme.quiet };
    const phases = names.filter((it) => !fixed[it]);
    const colors = { ...fixed };
    phases.forEach((it, index) => { colors[it] = theme.series[index % theme.series.length]; });
    return { names, colors };
}

function option(model, { theme }) {
    const shown = model.processes.slice(0, MOST);
    const place = {};
    shown.forEach(({ process }, index) => { place[process] = index; });
    const spans = spansOf(model).filter(({ process }) => place[process] !== undefined);
    const end = Math.max(model.duration, ...spans.map((span) => span.end)) || 1;
    const unit = timeUnit([end]);
    const { names, colors } = looks(spans, theme);
    const height = shown.length > 16 ? 14 : 22;
    const key = ({ kind, name }) => kind === 'phase' ? name : kind;
    const draw = (group) => (params, api) => {
        const span = group[params.dataIndex];
        const [x, y] = api.coord([span.begin / unit.factor, place[span.process]]);
        const right = api.coord([span.end / unit.factor, 0])[0];
        const tall = span.kind === 'mpi' ? height / 3 : height - 4;
        const isRank = span.kind === 'rank';
        const wide = right - x > 7 * span.name.length + 8 && height > 16;
        return { type: 'rect', shape: { x, y: y - tall / 2, width: Math.max(1, right - x - (isRank ? 2 : 0)), height: tall },
            style: { fill: colors[key(span)], fillOpacity: isRank ? 0.25 : 0.9 },
            textContent: isRank && wide ? { style: { text: span.name, fill: theme.text, font: `11px ${FONT}` } } : undefined,
            textConfig: { position: 'inside' } };
    };
    const traced = Boolean(model.timeline);
    const top = traced ? 34 : 8;
    return { height: top + 44 + height * shown.length, option: base(theme, {
        legend: traced ? legend(theme, names) : { show: false },
        tooltip: tooltip(theme, ({ seriesIndex, dataIndex }) => {
            const span = spans.filter((it) => key(it) === names[seriesIndex])[dataIndex];
            return [`process ${span.process}: ${span.name}`, `${seconds(span.begin)} to ${seconds(span.end)}`];
        }),
        grid: { left: 8, right: 16, top, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, max: end / unit.factor, name: `time (${unit.name})`, nameGap: 26,
            axisLabel: label(theme, { formatter: (value) => digits(value), hideOverlap: true, showMaxLabel: false }) }),
        yAxis: rows(theme, shown.map(({ process }) => `process ${process}`), { axisLabel: { fontSize: height > 16 ? 12 : 10, hideOverlap: true } }),
        series: names.map((name) => {
            const group = spans.filter((it) => key(it) === name);
            return { name, type: 'custom', renderItem: draw(group), itemStyle: { color: colors[name] },
                encode: { x: [0, 1], y: 2 }, clip: true, data: group.map(({ begin, end: last, process }) => [begin / unit.factor, last / unit.factor, place[process]]) };
        }),
    }) };
}

export default {
    name: 'timeline', title: 'Processes over time', lead, table, missing, option,
    caption: 'A row per process; it keeps its row when its rank changes. Where there is no bar it was not part of the world: not yet started, ' +
        'standing by, or gone.',
};
