/** A span of time, which may be open at either end. */
export interface Span {
  /** The first time that belongs to it. */
  readonly from: Date | undefined;
  /** The first time after it. */
  readonly until: Date | undefined;
}

/** The span of two texts of an address. @returns undefined if none of them is a time, or nothing can be in it */
export function spanOf(from: string | null, until: string | null): Span | undefined {
  const span = { from: timeOf(from), until: timeOf(until) };
  return isNone(span) || spanProblem(span) !== '' ? undefined : span;
}

/** Both ends as an address has them; empty for one that is open. */
export function spanTexts(span: Span | undefined): { readonly from: string; readonly until: string } {
  return { from: span?.from?.toISOString() ?? '', until: span?.until?.toISOString() ?? '' };
}

/** Open at both ends. */
export function isNone({ from, until }: Span): boolean {
  return from === undefined && until === undefined;
}

/** Why nothing can be in the span; empty if something may be. */
export function spanProblem({ from, until }: Span): string {
  return from !== undefined && until !== undefined && from >= until ? 'From must be before Until.' : '';
}

function timeOf(text: string | null): Date | undefined {
  if (text === null || !/^\d{4}-\d\d-\d\dT/.test(text)) return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
