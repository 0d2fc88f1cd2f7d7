// What the charts show of a paper's evaluation.

export function model({ paper }) {
    return { kind: 'paper', name: paper.title, by: paper.by, machine: paper.machine, measured: paper.measured, items: paper.items };
}

/* [claims that agree, claims that were looked at] */
export function agreed(items) {
    const claims = items.reduce((all, item) => all.concat(item.claims), []).filter(({ agrees }) => agrees !== null);
    return [claims.filter(({ agrees }) => agrees).length, claims.length];
}
