// The page: all of it but the charts' drawings, which its script adds. Readable without them.
import { bytes, count, escape, plural, seconds, digits, unitOf } from './format.js';
import { charts, isDrawn } from './charts/index.js';
import texts from 'made:page';
import style from './style.css';

const MOST_ROWS = 1000;

/* JSON that cannot end the script element that it stands in. */
const json = (value) => JSON.stringify(value).replace(/</g, '\\u003c').replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');

function cell(value, unit, isNumber) {
    if (value === null || value === undefined)
        return `<td class="none${isNumber ? ' number' : ''}">\u2013</td>`;
    if (typeof value !== 'number')
        return `<td${value.length > 40 ? ' class="long"' : ''}>${escape(value)}</td>`;
    const text = unit.name === '' ? (value % 1 === 0 ? count(value) : digits(value, 4)) : digits(value / unit.factor, 4);
    return `<td class="number"><data value="${value}">${text}</data></td>`;
}

/* Each column has one unit, so that numbers below each other can be compared. */
function table({ columns, rows, notes }, title) {
    const numbers = columns.map((_, index) => rows.map((row) => row[index]).filter((value) => typeof value === 'number'));
    const units = columns.map(([, unit], index) => unitOf[unit || ''](numbers[index]));
    const heads = columns.map(([name], index) => `<th scope="col"${numbers[index].length > 0 ? ' class="number"' : ''}>` +
        `${escape(name)}${units[index].name ? ` (${units[index].name})` : ''}</th>`);
    const lines = rows.slice(0, MOST_ROWS).map((row) =>
        `<tr>${row.map((value, index) => cell(value, units[index], numbers[index].length > 0)).join('')}</tr>`);
    const left = rows.length - lines.length;
    return `<div class="scroll" role="region" tabindex="0" aria-label="Table: ${escape(title)}"><table><caption>${escape(title)}</caption>
<thead><tr>${heads.join('')}</tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div>
${left > 0 ? `<p class="note">${plural(left, 'more row is', 'more rows are')} left out here; epop-report --format csv has all.</p>` : ''}
${notes ? `<p class="note">${escape(notes)}</p>` : ''}`;
}

function figure(chart, model) {
    const { name, title, caption } = chart;
    const why = chart.missing ? chart.missing(model) : null;
    if (why)
        return `<p class="empty">${escape(why)}</p>`;
    return `<figure><div class="chart" id="chart-${name}" role="img" aria-label="Chart: ${escape(title)}. The table below has its figures."></div>
<figcaption>${escape(caption)}</figcaption></figure>`;
}

function section(chart, model) {
    const { name, title, caption } = chart;
    const data = chart.table(model);
    const rows = data.rows.length === 0 ? '<p class="empty">There are no figures.</p>' : table(data, title);
    const shown = chart.option
        ? `${figure(chart, model)}\n<details><summary>Table: ${escape(title)} (${plural(data.rows.length, 'row')})</summary>${rows}</details>`
        : `<p class="caption">${escape(caption)}</p>${rows}`;
    return `<section id="${name}" aria-labelledby="title-${name}"><h2 id="title-${name}">${escape(title)}</h2>
<p class="lead">${escape(chart.lead(model))}</p>
${shown}</section>`;
}

/* 2, 4, 2: the sizes in the order in which the job had them, when that is short enough to be read. */
function sizes(model) {
    const all = model.world.map(({ size }) => size);
    return all.length <= 6 ? all.join(' \u2192 ')
        : `${all[0]} \u2192 \u2026 \u2192 ${all[all.length - 1]} (${Math.min(...all)} to ${Math.max(...all)})`;
}

function facts(model) {
    const moved = model.resizes.reduce((sum, resize) => sum + (resize.bytes || 0), 0);
    return [
        ['job', model.job], ['duration', seconds(model.duration)], ['ranks', sizes(model)],
        ['resizes', count(model.resizes.filter(({ committed }) => committed !== null).length)],
        ['redistributed', bytes(moved)],
        ['started (UTC)', new Date(model.started * 1000).toISOString().replace('T', ' ').replace(/:\d\d\..*/, '')],
        ['program', model.file], ['MPI', model.mpi ? `${model.mpi}, ${model.backend}` : 'none'],
    ].map(([name, value]) => `<div><dt>${name}</dt><dd>${escape(value)}</dd></div>`).join('\n');
}

const navigation = () => charts.map(({ name, title }) => `<li><a href="#${name}">${escape(title)}</a></li>`).join('\n');

export function page(model) {
    const partial = model.partial
        ? `<p class="partial" role="note"><strong>Partial.</strong> The job did not come to its end: ${escape(model.reason)}</p>` : '';
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${texts.hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="epop-report ${escape(model.epop)}">
<title>${escape(model.name)}: EPOP report</title>
<link rel="icon" href="data:,">
<style>
${style}</style>
</head>
<body>
<header>
<p class="kind">EPOP report</p>
<h1>${escape(model.name)}</h1>
${partial}
<dl class="facts">
${facts(model)}
</dl>
<nav aria-label="Charts"><ul>
${navigation()}
</ul></nav>
</header>
<main>
<noscript><p class="empty">The charts are drawn by a script, which is switched off here. The tables have all their figures.</p></noscript>
${charts.map((chart) => section(chart, model)).join('\n')}
</main>
<footer>
<p>Made by epop-report from a profile of EPOP ${escape(model.epop)}. Charts: ${escape(texts.library)}, Apache License 2.0.</p>
<details><summary>Licences of what this page contains</summary><pre tabindex="0">${escape(texts.licences)}</pre></details>
</footer>
<script type="application/json" id="model">${json({ ...model, drawn: charts.filter((chart) => isDrawn(chart, model)).map(({ name }) => name) })}</script>
<script>${texts.script}</script>
</body>
</html>
`;
}
