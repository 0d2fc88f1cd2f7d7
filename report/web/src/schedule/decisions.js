// Every decision with its reason, to be searched.
import { count, plural } from '../format.js';
import { rowsOf, total } from './common.js';

function lead(model) {
    const left = total(model, 'decisionsLeft');
    const shown = model.runs.reduce((sum, { decisions }) => sum + decisions.length, 0);
    return `${plural(shown + left, 'decision')}.` + (left > 0 ? ` The page has ${count(shown)} of them: those about the jobs with the largest ` +
        'bounded slowdown; epop-report --format csv has all.' : '');
}

/* A narrow page shows the reason, too. */
const reasonFirst = ([time, kind, job, name, from, to, at, reason, nodes]) => [time, kind, job, reason, name, from, to, at, nodes];

function table(model) {
    return {
        columns: [['policy'], ['time', 'time'], ['kind'], ['job', 'id'], ['reason'], ['name'], ['from'], ['to'], ['at', 'time'], ['nodes', 'list']],
        rows: rowsOf(model, (run) => run.decisions.map(reasonFirst)), more: total(model, 'decisionsLeft'),
    };
}

export default {
    name: 'decisions', title: 'Decisions', lead, table, mostRows: 4000, filters: ['policy', 'kind'],
    caption: 'start: a job is given its nodes. resize: it is given more, or gives some back. reserve: it waits, and is ' +
        'to start at that time. nodes: where it starts, or which it gets or gives back.',
};
