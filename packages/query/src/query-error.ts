/** Why a query was refused or ended: MongoDB's code and code name, and the position in the pipeline or text. */

import { type CodeName, PlatformError } from '@platform/base';

/** The codes with names of their own; MongoDB calls all others `Location<code>`. */
const namedCodes = {
  BadValue: 2,
  FailedToParse: 9,
  TypeMismatch: 14,
  Overflow: 15,
  IllegalOperation: 20,
  ExceededTimeLimit: 262,
  MaxTimeMSExpired: 50,
  ExceededMemoryLimit: 146,
  InvalidPipelineOperator: 168,
  NotImplemented: 238,
  ConversionFailure: 241,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  Interrupted: 11601,
  InvalidBSON: 22,
  IndexNotFound: 27,
  BSONObjectTooLarge: 10334,
} as const;

const names: ReadonlyMap<number, string> = new Map(Object.entries(namedCodes).map(([name, code]) => [code, name]));

const statuses: ReadonlyMap<string, CodeName> = new Map<string, CodeName>([
  ['MaxTimeMSExpired', 'deadline_exceeded'],
  ['Interrupted', 'canceled'],
  ['ExceededMemoryLimit', 'resource_exhausted'],
  ['QueryExceededMemoryLimitNoDiskUseAllowed', 'resource_exhausted'],
  ['BSONObjectTooLarge', 'resource_exhausted'],
  ['NotImplemented', 'unimplemented'],
]);

/** Position and hint; every part is optional. Lines and columns count from 1, stages from 0. */
export interface QueryErrorPlace {
  readonly stage?: number;
  readonly stageName?: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly hint?: string;
}

export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly code: number;
  readonly codeName: string;
  /** The message without position, code and hint. */
  readonly reason: string;
  readonly stage?: number;
  readonly stageName?: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly hint?: string;

  /** @param code MongoDB's code, by number or name. @param reason what was expected and found. */
  constructor(code: number | keyof typeof namedCodes, reason: string, place: QueryErrorPlace = {}) {
    const number = typeof code === 'number' ? code : namedCodes[code];
    const codeName = names.get(number) ?? `Location${number}`;
    super(`${placeText(place)}${reason} (${codeName}, code ${number})${place.hint ? `; ${place.hint}` : ''}`);
    this.code = number;
    this.codeName = codeName;
    this.reason = reason;
    Object.assign(this, place);
  }

  /** The gRPC status of the error. */
  get status(): CodeName {
    return statuses.get(this.codeName) ?? 'invalid_argument';
  }

  /** The same error, with the missing parts of its position filled in. */
  at(place: QueryErrorPlace): QueryError {
    const { stage, stageName, path, line, column, hint } = this;
    const known = Object.entries({ stage, stageName, path, line, column, hint }).filter(([, v]) => v !== undefined);
    return new QueryError(this.code, this.reason, { ...place, ...Object.fromEntries(known) });
  }

  toPlatformError(): PlatformError {
    return new PlatformError(this.status, this.message, this);
  }
}

/** Runs the parser of a part of a query. Its errors get this position, unless they have their own. */
export function withErrorsAt<T>(place: QueryErrorPlace, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof QueryError ? error.at(place) : error;
  }
}

/** The error for a part of a query that is malformed. */
export function malformed(reason: string, place: QueryErrorPlace = {}): QueryError {
  return new QueryError('FailedToParse', reason, place);
}

/** Runs the parser of a query. If the stack is too small for it, the query is nested too deeply. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (caught) {
    if (!(caught instanceof RangeError)) throw caught;
    throw new QueryError('Overflow', 'the query is nested too deeply, or is too long, to be read', {
      hint: 'nest expressions less deeply, and chain fewer of them',
    });
  }
}

function placeText(place: QueryErrorPlace): string {
  if (place.line !== undefined) return `line ${place.line}, column ${place.column ?? 1}: `;
  const stage =
    place.stage === undefined ? '' : `stage ${place.stage}${place.stageName ? ` (${place.stageName})` : ''}`;
  const path = place.path ? `at ${place.path}` : '';
  const text = [stage, path].filter((part) => part !== '').join(' ');
  return text === '' ? '' : `${text}: `;
}
