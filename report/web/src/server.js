// What epop-report calls, in Duktape: functions of a JSON text, each gives a text.
import 'core-js/actual/map';
import 'core-js/actual/set';
import 'core-js/actual/object/assign';
import { init, measureTexts } from './echarts.js';
import { csv } from './csv.js';
import { escape } from './format.js';
import { chartNamed, chartsOf, isDrawn, kindOf } from './kinds.js';
import { light } from './theme.js';
import { page } from './page.js';
import validate from 'made:validate';

const PAPER = { ...light, background: '#ffffff' };

/* Without what happens under a mouse. */
const still = (series) => ({ ...series, silent: true, emphasis: { disabled: true } });

/* Without the styles and marks by which a page would react, and with texts centred as every program understands it:
 * librsvg and LibreOffice know no dominant-baseline. */
const bare = (text) => text.replace(/<style[^>]*>[^]*?<\/style>\s*/, '')
    .replace(/<[^>]*>/g, (tag) => tag.replace(/ (?:ecmeta_\w+|class|pointer-events)="[^"]*"/g, '')
        .replace(' dominant-baseline="central"', ' dy="0.35em"'));

/* A drawing for itself: with a title and a description. */
function svg(chart, it, width) {
    const { height, option } = chart.option(it, { width, theme: PAPER });
    const drawing = init(null, null, { renderer: 'svg', ssr: true, width, height });
    drawing.setOption({ ...option, tooltip: { show: false }, series: option.series.map(still) });
    const text = drawing.renderToSVGString();
    drawing.dispose();
    return bare(text).replace(/^<svg [^>]*>/, (open) =>
        `${open.replace('<svg ', '<svg role="img" ')}\n<title>${escape(chart.title)}</title>\n<desc>${escape(chart.lead(it))}</desc>`) + '\n';
}

measureTexts(1.15); // there is no font here to ask; the widest usual one, DejaVu Sans, is that much wider than Helvetica

/* The last text and what came of it: it is the same for all charts of a report. */
let last = { text: null };

function read(text) {
    if (text !== last.text) {
        const report = JSON.parse(text);
        const kind = kindOf(report);
        last = { text, kind, model: kind.model(report) };
    }
    return last;
}

globalThis.report = {
    /* What is wrong with a profile; empty: nothing. */
    problem(text) {
        if (validate(JSON.parse(text)))
            return '';
        const [{ instancePath, message }] = validate.errors;
        return `${instancePath || 'it'} ${message}`;
    },
    charts(text) {
        const { kind, model } = read(text);
        return chartsOf(kind, model).map(({ name }) => name).join('\n');
    },
    page(text) {
        const { kind, model } = read(text);
        return page(kind, model);
    },
    csv(text, name) {
        const { kind, model } = read(text);
        return csv(chartNamed(kind, model, name).table(model));
    },
    /* Empty where there is nothing to draw. */
    svg(text, name, width) {
        const { kind, model } = read(text);
        const chart = chartNamed(kind, model, name);
        return isDrawn(chart, model) ? svg(chart, model, width) : '';
    },
};
