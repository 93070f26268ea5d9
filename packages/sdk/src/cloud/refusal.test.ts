import { expect, test } from 'vitest';
import { refusalOf } from './refusal.ts';

test('a refusal has the code and message of the answer, otherwise those of its status', () => {
  const said = { code: 'not_found', message: 'expected an invitation, found none' };
  expect(refusalOf({ status: 404, body: said }, 'GET /x')).toMatchObject(said);
  expect(refusalOf({ status: 403, body: { code: 'no such code', message: 'no' } }, 'GET /x')).toMatchObject({
    code: 'permission_denied',
    message: 'no',
  });
  expect(refusalOf({ status: 502, body: 'bad gateway' }, 'GET /x')).toMatchObject({
    code: 'unavailable',
    message: 'GET /x: expected 200, found 502 bad gateway',
  });
  expect(refusalOf({ status: 302, body: '' }, 'GET /x').code).toBe('internal');
});
