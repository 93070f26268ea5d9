/** Pipelines as text. */

export type Row = Readonly<Record<string, unknown>>;

/** @throws Error that says where the text is not a pipeline */
export function stagesOf(text: string): readonly unknown[] {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return value;
  throw new Error('A pipeline is a list of stages in brackets, such as [{"$limit": 10}].');
}
