export function keyPaths(value: unknown): readonly string[];
export function kindOf(question: object): string;
