// All charts of a profile, in the order of the page. A chart has
//   name, title, caption   texts
//   lead(model)            one sentence: what the figures say
//   table(model)           { columns: [[title, unit]], rows, notes, more }; null: no such value; more: how many rows are left out
//                          unit: s, B, %, J, W or none; time: a moment; id: a number
//                          that is a name; list: a text that a page may shorten; 'row': that of its row, which stands in the column with 'unit'
//   mostRows, filters      optional; how many rows the page has; columns by which one may choose there
//   whole                  optional; the table is as high as it is
//   missing(model)         optional; why there is nothing to draw, null if there is
//   option(model, { width, theme })   { height, option }, option as ECharts takes it; not there: the table is all
import efficiency from './efficiency.js';
import fit from './fit.js';
import functions from './functions.js';
import graph from './graph.js';
import loops from './loops.js';
import phases from './phases.js';
import resizes from './resizes.js';
import scaling from './scaling.js';
import timeline from './timeline.js';
import traffic from './traffic.js';
import world from './world.js';

export const charts = [world, resizes, phases, loops, functions, scaling, efficiency, fit, graph, traffic, timeline];
