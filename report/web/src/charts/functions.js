// The MPI functions in which the ranks were longest.
import { count, digits, percent, plural, seconds, timeUnit } from '../format.js';
import { axis, base, label, rows, tooltip } from './common.js';

const MOST = 12;
const total = (model) => model.functions.reduce((sum, { time }) => sum + time, 0);

function lead(model) {
    const [first] = model.functions;
    const all = total(model);
    if (!first)
        return 'The program called no MPI function in its phases.';
    return `${plural(model.functions.length, 'MPI function')} took ${seconds(all)} of all ranks together` +
        (all > 0 ? `; ${first.name} ${percent(first.time / all)} of it.` : '.');
}

function table(model) {
    const all = total(model);
    return {
        columns: [['function'], ['calls'], ['time', 's'], ['share', '%'], ['mean', 's']],
        rows: model.functions.map(({ name, calls, time }) => [name, calls, time, all > 0 ? time / all : 0, calls > 0 ? time / calls : null]),
    };
}

const missing = (model) => model.functions.length === 0 ? 'The program called no MPI function in its phases.' : null;

function option(model, { theme }) {
    const shown = model.functions.slice(0, MOST);
    const unit = timeUnit(shown.map(({ time }) => time));
    return { height: 46 + 28 * shown.length, option: base(theme, {
        tooltip: tooltip(theme, ({ dataIndex }) => [shown[dataIndex].name, seconds(shown[dataIndex].time), plural(shown[dataIndex].calls, 'call')]),
        grid: { left: 8, right: 92, top: 4, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, name: `time of all ranks (${unit.name})`, nameGap: 28, axisLabel: label(theme, { formatter: digits, hideOverlap: true }) }),
        yAxis: rows(theme, shown.map(({ name }) => name.replace(/^MPI_/, ''))),
        series: [{ type: 'bar', barWidth: 14, itemStyle: { color: theme.mpi }, data: shown.map(({ time }) => time / unit.factor),
            label: label(theme, { show: true, position: 'right', color: theme.text, formatter: ({ dataIndex }) => `${count(shown[dataIndex].calls)}\u00d7` }) }],
    }) };
}

export default {
    name: 'functions', title: 'Time in MPI functions', lead, table, missing, option,
    caption: `The ${MOST} MPI functions with the most time, of all ranks, phases and world sizes together; with the number of calls.`,
};
