// A chart's table as RFC 4180 has it: a line of names, commas, quotes where they are needed. Units stand in the names.
const UNITS = { s: '_s', time: '_s', B: '_bytes', J: '_joules', '%': '' };

const nameOf = ([title, unit]) => title.replace(/\W+/g, '_') + (title === 'bytes' ? '' : UNITS[unit] || '');

function cell(value) {
    if (typeof value === 'number')
        return value;
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv({ columns, rows }) {
    return [columns.map(nameOf), ...rows].map((row) => row.map(cell).join(',') + '\n').join('');
}
