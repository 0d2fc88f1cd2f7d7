// All charts of an executable's loops, in the order of the page; ../charts/index.js says what a chart has.
import calls from './calls.js';
import loops from './loops.js';

export const charts = [loops, calls];
