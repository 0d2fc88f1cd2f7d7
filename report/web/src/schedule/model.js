// What the charts and tables of a schedule show, from what epop-report hands over: report/view.c says what is left out of large ones.
import { shorten } from '../format.js';

const unique = (names, more) => names.map((name, index) =>
    names.filter((other) => other === name).length > 1 ? more(name, index) : name);

/* A policy's name; with its options, and then a number, where others have the same one. */
function labelsOf(runs) {
    const plain = unique(runs.map(({ policy }) => policy), (name, index) => name + (runs[index].options ? `,${runs[index].options}` : ''));
    return unique(plain, (name, index) => `${name} #${plain.slice(0, index + 1).filter((other) => other === name).length}`);
}

/* As they fit into a drawing. */
const shortLabels = (labels) => unique(labels.map((label) => shorten(label, 26)), (name, index) => `${index + 1}: ${name}`);

const stayOf = ([job, name, kind, begin, end, size, outcome, reason, nodes]) => ({ job, name, kind, begin, end, size, outcome, reason, nodes });

function runOf(run, label, short) {
    return {
        label, short, policy: run.policy, options: run.options, metrics: run.metrics, accounts: run.accounts || [], count: run.count,
        stays: run.stays.map(stayOf), staysLeft: run.stays_left, picture: run.picture,
        waiting: run.waiting, held: run.held, slowdowns: run.slowdowns, median: run.median_slowdown,
        jobs: run.jobs, jobsLeft: run.jobs_left, decisions: run.decisions, decisionsLeft: run.decisions_left,
        events: run.events, eventsLeft: run.events_left,
    };
}

/* What the input says about itself, as far as it is text or a number. */
function settingsOf(options) {
    return Object.keys(options || {}).filter((name) => ['string', 'number', 'boolean'].indexOf(typeof options[name]) >= 0)
        .map((name) => [name, options[name]]);
}

export function model({ schedule }) {
    const { workload, machine } = schedule;
    const labels = labelsOf(schedule.runs);
    const shorts = shortLabels(labels);
    return {
        kind: 'schedule', name: String(workload.name || 'schedule'), program: String(schedule.program || ''),
        notes: (Array.isArray(workload.notes) ? workload.notes : []).map(String),
        nodes: machine.nodes, powerCap: machine.power_cap, settings: settingsOf(schedule.options),
        begin: schedule.begin, end: schedule.end,
        runs: schedule.runs.map((run, index) => runOf(run, labels[index], shorts[index])),
    };
}

/* What the page's script needs: no tables. */
export function embedded(it) {
    return { ...it, notes: [], settings: [], runs: it.runs.map((run) => ({ ...run, metrics: {}, accounts: [], jobs: [], decisions: [] })) };
}
