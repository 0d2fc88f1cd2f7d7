// The page: all of it but the charts' drawings, which its script adds. Readable without them.
import { count, escape, plural, shorten, digits, unitOf } from './format.js';
import { chartsOf, isDrawn } from './kinds.js';
import texts from 'made:page';
import style from './style.css';

const MOST_ROWS = 1000;

/* JSON that cannot end the script element that it stands in. */
const json = (value) => JSON.stringify(value).replace(/</g, '\\u003c').replace(/\u2028/g, '\\u2028').replace(/\u2029/g, '\\u2029');

function cell(value, unit, isNumber) {
    if (value === null || value === undefined)
        return `<td class="none${isNumber ? ' number' : ''}">\u2013</td>`;
    if (typeof value !== 'number')
        return `<td${value.length > 40 ? ' class="long"' : ''}>${escape(unit.most ? shorten(value, unit.most) : value)}</td>`;
    const text = unit.text ? unit.text(value) : unit.name === '' ? (value % 1 === 0 ? count(value) : digits(value, 4)) : digits(value / unit.factor, 4);
    return `<td class="number"><data value="${value}">${text}</data></td>`;
}

/* Each column has one unit, so that numbers below each other can be compared; or each row, which has a column that names it. */
function unitsOf(columns, rows, numbers) {
    const own = columns.map(([, unit], index) => (unit === 'row' || unit === 'unit' ? unitOf[''](numbers[index]) : unitOf[unit || ''](numbers[index])));
    const named = columns.map(([, unit]) => unit).indexOf('unit');
    const shared = (row) => unitOf[row[named]](row.filter((value, index) => columns[index][1] === 'row' && typeof value === 'number'));
    return { heads: own, of: (row) => named < 0 ? own : columns.map(([, unit], index) => unit === 'row' || unit === 'unit' ? shared(row) : own[index]) };
}

function tableRow(row, columns, units, numbers) {
    const cells = row.map((value, index) => columns[index][1] === 'unit' ? `<td><data value="${escape(value)}">${escape(units[index].name)}</data></td>`
        : cell(value, units[index], numbers[index].length > 0));
    return `<tr>${cells.join('')}</tr>`;
}

function table({ columns, rows, notes, more }, { title, mostRows, filters, whole }) {
    const numbers = columns.map((_, index) => rows.map((row) => row[index]).filter((value) => typeof value === 'number'));
    const units = unitsOf(columns, rows, numbers);
    const heads = columns.map(([name], index) => `<th scope="col"${numbers[index].length > 0 ? ' class="number"' : ''}>` +
        `${escape(name)}${units.heads[index].name ? ` (${units.heads[index].name})` : ''}</th>`);
    const lines = rows.slice(0, mostRows || MOST_ROWS).map((row) => tableRow(row, columns, units.of(row), numbers));
    const left = rows.length - lines.length + (more || 0);
    return `${filters ? `<div class="filter" data-columns="${filters.join(',')}"></div>` : ''}<div class="${whole ? 'scroll whole' : 'scroll'}" role="region" tabindex="0" aria-label="Table: ${escape(title)}"><table><caption>${escape(title)}</caption>
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
    const rows = data.rows.length === 0 ? '<p class="empty">There are no figures.</p>' : table(data, chart);
    const shown = chart.option
        ? `${figure(chart, model)}\n<details><summary>Table: ${escape(title)} (${plural(data.rows.length + (data.more || 0), 'row')})</summary>${rows}</details>`
        : `<p class="caption">${escape(caption)}</p>${rows}`;
    return `<section id="${name}" aria-labelledby="title-${name}"><h2 id="title-${name}">${escape(title)}</h2>
<p class="lead">${escape(chart.lead(model))}</p>
${shown}</section>`;
}

const facts = (list) => list.map(([name, value]) => `<div><dt>${escape(name)}</dt><dd>${escape(value)}</dd></div>`).join('\n');
const navigation = (charts) => charts.map(({ name, title }) => `<li><a href="#${name}">${escape(title)}</a></li>`).join('\n');

export function page(kind, model) {
    const charts = chartsOf(kind, model);
    const drawn = charts.filter((chart) => isDrawn(chart, model)).map(({ name }) => name);
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${texts.hash}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="epop-report ${escape(kind.version(model))}">
<title>${escape(model.name)}: EPOP report</title>
<link rel="icon" href="data:,">
<style>
${style}</style>
</head>
<body>
<header>
<p class="kind">EPOP report</p>
<h1>${escape(model.name)}</h1>
${kind.notices(model)}
<dl class="facts">
${facts(kind.facts(model))}
</dl>
<nav aria-label="Charts"><ul>
${navigation(charts)}
</ul></nav>
</header>
<main>
<noscript><p class="empty">The charts are drawn by a script, which is switched off here. The tables have all their figures.</p></noscript>
${charts.map((chart) => section(chart, model)).join('\n')}
</main>
<footer>
<p>Made by epop-report from ${escape(kind.madeFrom(model))}. Charts: ${escape(texts.library)}, Apache License 2.0.</p>
<details><summary>Licences of what this page contains</summary><pre tabindex="0">${escape(texts.licences)}</pre></details>
</footer>
<script type="application/json" id="model">${json({ ...kind.embedded(model), drawn })}</script>
<script>${texts.script}</script>
</body>
</html>
`;
}
