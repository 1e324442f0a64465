export function clientOf(document: object): string;
