// Compute and MPI time of each phase.
import { digits, percent, seconds, shorten, timeUnit } from '../format.js';
import { axis, base, label, legend, NARROW, rows, tooltip } from './common.js';

const MOST = 20;

const measured = (model) => model.elements.filter(({ worlds, time }) => worlds.length > 0 && time > 0);

/* The elements with the most time, in the program's order, and what the others took together. */
function chosen(model) {
    const all = measured(model);
    const most = all.slice().sort((a, b) => b.time - a.time).slice(0, all.length > MOST ? MOST - 1 : MOST);
    const shown = all.filter((it) => most.indexOf(it) >= 0);
    const rest = all.filter((it) => most.indexOf(it) < 0);
    if (rest.length > 0)
        shown.push(rest.reduce((sum, it) => ({ ...sum, time: sum.time + it.time, mpi: sum.mpi + it.mpi, compute: sum.compute + it.compute }),
            { label: `${rest.length} others`, type: '', time: 0, mpi: 0, compute: 0 }));
    return shown;
}

function lead(model) {
    const all = measured(model);
    const time = all.reduce((sum, it) => sum + it.time, 0);
    const mpi = all.reduce((sum, it) => sum + it.mpi, 0);
    const most = all.slice().sort((a, b) => b.time - a.time)[0];
    if (!most)
        return 'No phase was measured.';
    return `${percent(time > 0 ? mpi / time : 0)} of the time of all ranks went into MPI. ` +
        (all.length > 1 ? `Most time went into \u201c${most.label}\u201d: ${percent(most.time / time)}, ` +
            `${percent(most.mpi / most.time)} of it in MPI.` : `All of it is in \u201c${most.label}\u201d.`);
}

function table(model) {
    return {
        columns: [['pc'], ['phase'], ['type'], ['size'], ['visits'], ['iterations'], ['time', 's'], ['mpi', 's'], ['mpi share', '%'], ['mtct'],
            ['mean', 's'], ['min', 's'], ['max', 's'], ['imbalance']],
        rows: model.elements.reduce((all, { pc, label: name, type, worlds }) => all.concat(worlds.map((it) => [pc, name, type, it.size,
            it.visits, it.iterations, it.time, it.mpi, it.mpiShare, it.mtct, it.mean, it.least, it.most, it.imbalance])), []),
        notes: 'time and mpi: sums over ranks; mean, min, max: of a rank; mpi share: mpi / time; mtct: mpi / compute time; imbalance: the busiest rank\u2019s time outside MPI / the mean.',
    };
}

const missing = (model) => measured(model).length === 0 ? 'Nothing was measured in any phase.' : null;

function option(model, { width, theme }) {
    const shown = chosen(model);
    const narrow = width < NARROW;
    const unit = timeUnit(shown.map(({ time }) => time));
    const part = (key, name, color, more) => ({
        name, type: 'bar', stack: 'time', barWidth: 16, itemStyle: { color },
        data: shown.map((it) => it[key] / unit.factor), ...more,
    });
    const names = shown.map((it) => shorten(it.label, narrow ? 14 : 24));
    return { height: 34 + 46 + 30 * shown.length, option: base(theme, {
        legend: legend(theme, ['compute', 'MPI']),
        tooltip: tooltip(theme, ({ dataIndex, seriesName, value }) => {
            const it = shown[dataIndex];
            return [it.label, `${seriesName}: ${seconds(value * unit.factor)}`, `${percent(it.mpi / it.time)} of ${seconds(it.time)} in MPI`];
        }),
        grid: { left: 8, right: 92, top: 34, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, name: `time of all ranks (${unit.name})`, nameGap: 28, axisLabel: label(theme, { formatter: digits, hideOverlap: true }) }),
        yAxis: rows(theme, names),
        series: [
            part('compute', 'compute', theme.compute),
            part('mpi', 'MPI', theme.mpi, { label: label(theme, { show: true, position: 'right', color: theme.text,
                formatter: ({ dataIndex }) => `MPI ${percent(shown[dataIndex].mpi / shown[dataIndex].time)}` }) }),
        ],
    }) };
}

export default {
    name: 'phases', title: 'Compute and MPI time by phase', lead, table, missing, option,
    caption: 'The time of all ranks together, at all world sizes, without that in which the job was resized or paused.',
};
