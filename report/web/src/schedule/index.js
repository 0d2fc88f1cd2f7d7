// All charts of a schedule, in the order of the page; ../charts/index.js says what a chart has.
import decisions from './decisions.js';
import gantt from './gantt.js';
import metrics from './metrics.js';
import queue from './queue.js';
import slowdown from './slowdown.js';
import utilisation from './utilisation.js';

export const charts = [metrics, gantt, queue, utilisation, slowdown, decisions];
