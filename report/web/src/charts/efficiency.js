// Parallel efficiency over world size: of the job, and of each phase.
import { percent, plural, shorten } from '../format.js';
import { axis, base, curve, label, legend, NARROW, sizeAxis, tooltip } from './common.js';
import { fitted, isFitted, phasesOf } from './scaling.js';

const ofJob = (model) => model.efficiency.filter(({ efficiency }) => efficiency !== null);
const PROGRAM = 'whole program';

function lead(model) {
    const [first, ...others] = ofJob(model);
    if (others.length === 0)
        return 'Efficiency compares world sizes; no phase made iterations at two of them.';
    const last = others[others.length - 1];
    return `At ${plural(last.size, 'rank')} the program runs ${(last.speedup).toFixed(2)} times as fast as at ${first.size}: ` +
        `an efficiency of ${percent(last.efficiency)}. Amdahl\u2019s law: ${model.fits.program.verdict}.`;
}

function table(model) {
    const program = model.efficiency.map((it) => [PROGRAM, it.size, it.time, it.speedup, it.efficiency]);
    return {
        columns: [['phase'], ['size'], ['time', 's'], ['speedup'], ['efficiency', '%']],
        rows: model.elements.reduce((all, { label: name, worlds }) => all.concat(
            worlds.filter(({ efficiency }) => efficiency !== null).map((it) => [name, it.size, it.mean, it.speedup, it.efficiency])), program),
        notes: 'time: in that phase at that size, mean of the ranks; speedup and efficiency: against the smallest world.',
    };
}

const missing = (model) => ofJob(model).length < 2 ? 'The efficiency needs iterations of a phase at two world sizes at least.' : null;

/* What the fit says of the efficiency at a size, against the smallest. */
const fittedEfficiency = (fit, least, size) => fitted(fit, least) * least / (fitted(fit, size) * size);

function seriesOf(name, points, fit, look) {
    const sizes = points.map(([size]) => size);
    const least = Math.min(...sizes);
    return [
        { name, type: 'scatter', symbol: look.symbol, symbolSize: look.size, itemStyle: look.open ? { color: 'transparent', borderColor: look.color, borderWidth: 2 } : { color: look.color, opacity: 1 }, data: points, z: look.z },
        ...(isFitted(fit) && sizes.length > 1 ? [{ name, type: 'line', symbol: 'none', silent: true,
            lineStyle: { color: look.color, width: look.width }, z: look.z, data: curve(sizes, (size) => fittedEfficiency(fit, least, size)) }] : []),
    ];
}

function option(model, { width, theme }) {
    const job = ofJob(model);
    const phases = phasesOf(model, theme).filter(({ worlds }) => worlds.filter(({ efficiency }) => efficiency !== null).length > 1);
    const program = seriesOf(PROGRAM, job.map((it) => [it.size, it.efficiency]), model.fits.program,
        { symbol: 'circle', size: 12, color: theme.text, open: true, width: 2.5, z: 4 });
    const others = phases.length < 2 ? [] : phases.reduce((all, it) => all.concat(seriesOf(shorten(it.label, 20),
        it.worlds.filter(({ efficiency }) => efficiency !== null).map(({ size, efficiency }) => [size, efficiency]), it.fit,
        { symbol: it.symbol, size: 9, color: it.color, width: 1.5, z: 3 })), []);
    const sizes = job.map(({ size }) => size);
    const most = Math.max(1, ...job.map(({ efficiency }) => efficiency), ...phases.map(({ worlds }) => Math.max(...worlds.map(({ efficiency }) => efficiency || 0))));
    const entries = [{ name: PROGRAM, icon: 'circle', itemStyle: { color: 'transparent', borderColor: theme.text, borderWidth: 2 } },
        ...(phases.length < 2 ? [] : phases.map((it) => ({ name: shorten(it.label, 20), icon: it.symbol })))];
    const top = 56 + 20 * Math.floor(entries.length / (width < NARROW ? 2 : 5));
    return { height: 260 + top, option: base(theme, {
        legend: legend(theme, entries),
        tooltip: tooltip(theme, ({ seriesName, value }) => [seriesName, `${plural(value[0], 'rank')}: ${percent(value[1])}`]),
        grid: { left: 56, right: 16, top, bottom: 44 },
        xAxis: sizeAxis(theme, sizes),
        yAxis: axis(theme, { type: 'value', min: 0, max: Math.ceil(most * 5 + 0.25) / 5, name: 'efficiency', nameLocation: 'end', nameGap: 12,
            nameTextStyle: label(theme, { align: 'left', padding: [0, 0, 0, -50] }),
            axisLabel: label(theme, { formatter: (value) => `${Math.round(value * 100)} %` }) }),
        series: [...program, ...others, { name: 'ideal', type: 'line', symbol: 'none', silent: true, data: curve(sizes, () => 1),
            lineStyle: { color: theme.quiet, width: 1, type: 'dashed' } }],
    }) };
}

export default {
    name: 'efficiency', title: 'Parallel efficiency over world size', lead, table, missing, option,
    caption: 'Speedup against the smallest world, divided by how many times more ranks there were. Points are measured, ' +
        'lines follow from the fit of Amdahl\u2019s law, the dashed line is 100 %.',
};
