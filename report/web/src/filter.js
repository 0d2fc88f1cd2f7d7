// Searching in a table: a field for words, and a list of values for each of some columns. Rows that do not fit are hidden.

function element(name, properties, ...children) {
    const it = Object.assign(document.createElement(name), properties);
    children.forEach((child) => it.append(child));
    return it;
}

/* As one would write it: without the narrow spaces between thousands. */
const plain = (text) => text.replace(/\u202f/g, '').trim().toLowerCase();
const textOf = (row, index) => row.cells[index].textContent;

function choices(rows, index, title) {
    const values = [...new Set(rows.map((row) => textOf(row, index)))].sort();
    return element('select', {}, element('option', { value: '', textContent: `any ${title}` }),
        ...values.map((value) => element('option', { value, textContent: value })));
}

/* Into the place, for the table behind it. */
export function addFilter(place) {
    const rows = [...place.nextElementSibling.querySelectorAll('tbody tr')];
    const heads = [...place.nextElementSibling.querySelectorAll('thead th')].map((head) => head.textContent);
    const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(' ')).map(plain);
    const columns = place.dataset.columns.split(',').map((title) => ({ title, index: heads.indexOf(title) }));
    const selects = columns.map(({ title, index }) => choices(rows, index, title));
    const search = element('input', { type: 'search', placeholder: 'as in: job 7' });
    const status = element('output', {});
    const apply = () => {
        const words = plain(search.value);
        let shown = 0;
        rows.forEach((row, number) => {
            const fits = texts[number].includes(words) &&
                selects.every(({ value }, index) => value === '' || textOf(row, columns[index].index) === value);
            row.hidden = !fits;
            shown += fits ? 1 : 0;
        });
        status.textContent = `${shown} of ${rows.length}`;
    };
    place.append(element('label', {}, 'Search ', search), ...selects.map((select, index) =>
        element('label', {}, `${columns[index].title} `, select)), status);
    [search, ...selects].forEach((it) => it.addEventListener('input', apply));
    apply();
}
