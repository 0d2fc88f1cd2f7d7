// How the jobs fared: the distribution of bounded slowdown.
import { digits, percent } from '../format.js';
import { axis, base, decades, label, tooltip } from '../charts/common.js';
import { flat, legendHeight, legendOf, line, rowsOf, sentences, total } from './common.js';

const known = (model) => model.runs.filter(({ slowdowns }) => slowdowns.length > 0);

/* Not by the curve, which has fewer points than a large schedule has jobs. */
function about({ label: name, metrics, median, slowdowns }) {
    const most = metrics.p95_slowdown;
    return `${name}: half of the jobs have a slowdown of at most ${digits(median)}` +
        (most >= 1 ? `, 95 % of at most ${digits(most)}` : '') + `; the largest is ${digits(slowdowns[slowdowns.length - 1][0])}.`;
}

const lead = (model) => sentences(known(model).map(about)) || 'No slowdown is known.';

function table(model) {
    const columns = [['policy'], ['job', 'id'], ['name'], ['user', 'id'], ['kind'], ['submit', 'time'], ['wait', 'time'], ['slowdown'], ['share', '%'], ['resizes'], ['outcome']];
    const rows = rowsOf(model, (run) => run.jobs);
    const measured = rows.some((row) => row[columns.length] > 0);
    return {
        columns: measured ? [...columns, ['energy', 'J']] : columns, more: total(model, 'jobsLeft'),
        rows: measured ? rows : rows.map((row) => row.slice(0, columns.length)),
        notes: 'The jobs that fared worst come first. share: of the jobs, those whose slowdown is not larger.',
    };
}

const missing = (model) => known(model).length === 0 ? 'No job came as far as having a slowdown.' : null;

function option(model, { width, theme }) {
    const top = legendHeight(model, width) + 26;
    const all = flat(model.runs.map(({ slowdowns }) => slowdowns.map(([slowdown]) => slowdown)));
    const { min, max } = decades([Math.min(...all), Math.max(...all)].filter((value) => value > 0).concat(1));
    const share = (value) => `${Math.round(value * 100)} %`;
    return { height: top + 220 + 48, option: base(theme, {
        legend: legendOf(model, theme),
        tooltip: tooltip(theme, (lines) => [`slowdown ${digits(lines[0].axisValue)} or less`,
            ...model.runs.map((run) => `${run.label}: ${percent(shareAt(run, lines[0].axisValue))} of the jobs`)],
        { trigger: 'axis', axisPointer: { lineStyle: { color: theme.muted } } }),
        grid: { left: 52, right: 20, top, height: 220 },
        xAxis: axis(theme, { type: 'log', min, max, name: 'bounded slowdown (logarithmic)', nameGap: 28,
            axisLabel: label(theme, { formatter: (value) => digits(value), hideOverlap: true }) }),
        yAxis: axis(theme, { type: 'value', min: 0, max: 1, axisLabel: label(theme, { formatter: share }), name: 'jobs', nameLocation: 'end', nameGap: 12,
            nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -48] }) }),
        series: model.runs.map((run, index) => line(theme, run, index,
            run.slowdowns.length === 0 ? [] : [[run.slowdowns[0][0], 0], ...run.slowdowns, [max, 1]])),
    }) };
}

function shareAt({ slowdowns }, slowdown) {
    const below = slowdowns.filter((point) => point[0] <= slowdown * (1 + 1e-9));
    return below.length > 0 ? below[below.length - 1][1] : 0;
}

export default {
    name: 'slowdown', title: 'Distribution of bounded slowdown', lead, table, missing, option,
    caption: 'How many of the jobs have at most that slowdown; the further to the left a line is, the better. 1 is a job that ran at once at the nodes ' +
        'that it wanted, or faster.',
};
