/** A range of time in which lines are read, as people type it and as the address has it. */
export interface LogRange {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** @returns undefined if neither text is a time */
export function rangeOf(from: string | null, to: string | null): LogRange | undefined {
  const range = { from: timeOf(from), to: timeOf(to) };
  return range.from === undefined && range.to === undefined ? undefined : range;
}

/** Why the range has no lines; empty if it may have some. */
export function rangeProblem({ from, to }: LogRange): string {
  return from !== undefined && to !== undefined && from >= to ? 'From must be before To.' : '';
}

/** A time as inputs of the type `datetime-local` have it, in the time zone of the browser. */
export function inputText(time: Date | undefined): string {
  if (time === undefined) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function timeOf(text: string | null): Date | undefined {
  const time = new Date(text ?? '');
  return text === null || Number.isNaN(time.getTime()) ? undefined : time;
}
