// Which claims of the paper hold here, too.
import { count, plural, shorten } from '../format.js';
import { axis, base, label, legend, NARROW, rows, tooltip } from '../charts/common.js';
import { agreed } from './model.js';

const KINDS = [['agree', true], ['do not', false], ['not measured', null]];
const nameOf = ({ of, title }) => `${of}: ${title}`;
const judged = (model) => model.items.filter(({ claims }) => claims.length > 0);
const word = (finding) => finding === null ? null : finding.text ? `${finding.holds ? 'yes' : 'no'}: ${finding.text}` : finding.holds ? 'yes' : 'no';

function lead(model) {
    const [yes, all] = agreed(model.items);
    const others = judged(model).reduce((sum, { claims }) => sum + claims.length, 0) - all;
    return all === 0 ? 'Nothing was measured yet that tells of a claim.'
        : `${count(yes)} of ${plural(all, 'claim')} hold here as they do there.${others > 0 ? ` ${plural(others, 'other')} could not be looked at.` : ''}`;
}

function table(model) {
    return {
        columns: [['item'], ['claim'], ['paper'], ['here'], ['agrees'], ['why not']],
        rows: judged(model).reduce((all, item) => all.concat(item.claims.map((it) => [nameOf(item), it.claim, word(it.paper), word(it.here),
            it.agrees === null ? null : it.agrees ? 'yes' : 'no', it.why || null])), []),
        notes: 'paper, here: whether the claim holds there, and by what.',
    };
}

const missing = (model) => judged(model).length === 0 ? 'There are no claims.' : null;

function option(model, { width, theme }) {
    const shown = judged(model);
    const colors = [theme.good, theme.bad, theme.line];
    const most = Math.max(...shown.map(({ claims }) => claims.length));
    return { height: 34 + 46 + 26 * shown.length, option: base(theme, {
        legend: legend(theme, KINDS.map(([name]) => name)),
        tooltip: tooltip(theme, ({ dataIndex, seriesName, value }) => [nameOf(shown[dataIndex]), `${seriesName}: ${plural(value, 'claim')}`]),
        grid: { left: 8, right: 16, top: 34, bottom: 40, containLabel: true },
        xAxis: axis(theme, { type: 'value', min: 0, max: most, minInterval: 1, name: 'claims', nameGap: 26, axisLabel: label(theme, { formatter: count, hideOverlap: true }) }),
        yAxis: rows(theme, shown.map((item) => shorten(nameOf(item), width < NARROW ? 20 : 48))),
        series: KINDS.map(([name, agrees], index) => ({ name, type: 'bar', stack: 'claims', barWidth: 14, itemStyle: { color: colors[index] },
            data: shown.map(({ claims }) => claims.filter((it) => it.agrees === agrees).length) })),
    }) };
}

export default {
    name: 'agreement', title: 'What agrees', lead, table, missing, option,
    caption: 'Claims of each table or figure: those that hold here as in the paper, those that do not, and those of which nothing was measured.',
};
