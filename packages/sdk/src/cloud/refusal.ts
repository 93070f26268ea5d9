/** Converts an unsuccessful HTTP answer to an error with the code and message in it; without them, derives both from its status. */
import { type CodeName, codes, PlatformError } from '@platform/base';
import type { HttpAnswer } from './http-request.ts';

const ofStatus: Readonly<Record<number, CodeName>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'aborted',
  413: 'resource_exhausted',
  429: 'resource_exhausted',
};

/** @param asked such as `GET /api/whoami`, for the message if the answer has none. */
export function refusalOf({ status, body }: HttpAnswer, asked: string): PlatformError {
  const { code, message } = Object(body) as { readonly code?: unknown; readonly message?: unknown };
  const fallback = ofStatus[status] ?? (status >= 500 ? 'unavailable' : 'internal');
  if (typeof message === 'string' && message !== '') return new PlatformError(isCode(code) ? code : fallback, message);
  const found = typeof body === 'string' ? body.slice(0, 200) : JSON.stringify(body);
  return new PlatformError(fallback, `${asked}: expected 200, found ${status} ${found}`.trim());
}

function isCode(value: unknown): value is CodeName {
  return typeof value === 'string' && Object.hasOwn(codes, value);
}
