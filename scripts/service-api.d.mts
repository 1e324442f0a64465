export function pageOf(document: object): string;
