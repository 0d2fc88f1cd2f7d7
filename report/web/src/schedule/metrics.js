// The figures of each policy side by side, and their ratios to the first.
import { digits, percent, plural, seconds } from '../format.js';
import { sentences } from './common.js';

const METRICS = [
    ['makespan', 'makespan', 's'], ['mean_wait', 'mean wait', 's'], ['max_wait', 'longest wait', 's'],
    ['mean_response', 'mean response', 's'], ['mean_slowdown', 'mean bounded slowdown', ''],
    ['p95_slowdown', 'bounded slowdown of 95 % of the jobs', ''], ['max_slowdown', 'largest bounded slowdown', ''],
    ['user_slowdown_spread', 'spread of slowdown among users', ''], ['utilisation', 'utilisation', '%'], ['efficiency', 'efficiency', '%'],
    ['network_utilisation', 'utilisation of the network', '%'], ['file_system_utilisation', 'utilisation of the file system', '%'],
    ['joules', 'energy', 'J'], ['peak_watts', 'highest power', 'W'],
    ['spread', 'leaf switches of a job over the fewest possible', ''], ['jobs', 'jobs', ''], ['done', 'jobs that were done', ''],
    ['deadlines', 'jobs with a deadline', ''], ['missed', 'jobs that missed it', ''], ['mean_lateness', 'mean of what these were late, if done', 's'],
    ['backfilled', 'backfilled jobs', ''], ['requeues', 'jobs put back into the queue', ''], ['resizes', 'resizes', ''],
    ['grown', 'resizes to more nodes', ''], ['shrunk', 'resizes to fewer nodes', ''], ['refused', 'refused resizes', ''],
    ['mean_latency', 'from decision to commit', 's'], ['max_latency', 'longest of these', 's'],
    ['stalled', 'node time lost in resizes', 's'], ['decides', 'times that the policy was asked', ''],
    ['decide_seconds', 'CPU time of the policy', 's'], ['decide_longest', 'longest decision', 's'],
];
/* Not known where they are 0. */
const OPTIONAL = ['joules', 'peak_watts', 'efficiency', 'decides', 'mean_latency', 'max_latency', 'stalled'];

const valueOf = (run, key) => typeof run.metrics[key] === 'number' ? run.metrics[key] : null;
const ratio = (value, first) => value !== null && first ? value / first : null;

/* Those that are known of any run; what has no name here comes last, by its own. */
function known(model) {
    const listed = METRICS.map(([key]) => key);
    const others = Object.keys(model.runs[0].metrics).filter((key) => listed.indexOf(key) < 0).map((key) => [key, key, '']);
    return METRICS.concat(others).filter(([key]) =>
        model.runs.some((run) => valueOf(run, key) !== null && (valueOf(run, key) !== 0 || OPTIONAL.indexOf(key) < 0)));
}

function change(run, first, key) {
    const part = ratio(valueOf(run, key), valueOf(first, key));
    if (part === null)
        return 'not known';
    return Math.abs(part - 1) < 0.0005 ? 'the same' : `${percent(Math.abs(part - 1))} ${part < 1 ? 'less' : 'more'}`;
}

function lead(model) {
    const [first, ...others] = model.runs;
    if (others.length > 0)
        return sentences(others.map((run) => `${run.label} against ${first.label}: makespan ${change(run, first, 'makespan')}, ` +
            `mean wait ${change(run, first, 'mean_wait')}, mean bounded slowdown ${change(run, first, 'mean_slowdown')}.`));
    const wait = valueOf(first, 'mean_wait');
    const span = valueOf(first, 'makespan');
    return `${plural(first.count, 'job')} under ${first.label}` + (span !== null ? `, makespan ${seconds(span)}` : '') +
        (wait !== null ? `, mean wait ${seconds(wait)}.` : '.');
}

const MOST_ACCOUNTS = 20;

/* What accounts with shares have used, and how long they waited; of runs of the same jobs, they are the same in all. */
function accountRows({ runs }) {
    const rowOf = (title, unit, at, key) => {
        const values = runs.map(({ accounts }) => accounts[at] ? accounts[at][key] : null);
        return [title, unit, ...values, ...values.slice(1).map((value) => ratio(value, values[0]))];
    };
    return runs[0].accounts.slice(0, MOST_ACCOUNTS).reduce((rows, { account, share }, at) => [...rows,
        rowOf(`usage of ${account} over its share of ${digits(share)}`, '', at, 'usage'), rowOf(`mean wait of ${account}`, 's', at, 'mean_wait')], []);
}

function table(model) {
    const [first, ...others] = model.runs;
    return {
        columns: [['metric'], ['unit', 'unit'], ...model.runs.map((run) => [run.label, 'row']),
            ...others.map((run) => [`${run.label} / ${first.label}`])],
        rows: known(model).map(([key, title, unit]) => [title, unit, ...model.runs.map((run) => valueOf(run, key)),
            ...others.map((run) => ratio(valueOf(run, key), valueOf(first, key)))]).concat(accountRows(model)),
    };
}

export default {
    name: 'metrics', title: 'Metrics', lead, table, whole: true,
    caption: 'Bounded slowdown: wait and run time, divided by the run time at the wanted nodes, but by 10 s at least. Utilisation: node seconds ' +
        'held over those that there were. Efficiency: ideal node seconds (on one node) over held ones.',
};
