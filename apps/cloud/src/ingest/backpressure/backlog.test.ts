import { expect, test } from 'vitest';
import { createBacklog } from './backlog.ts';

test("an organization's bytes count in the backlog until the stage has passed them, and cancelled bytes never count", () => {
  const backlog = createBacklog(100);
  for (let position = 1; position <= 10; position++) {
    backlog.reserve('a', 50);
    backlog.place('a', 50, position);
  }
  backlog.reserve('b', 70);
  expect(backlog.bytes).toBe(570);
  backlog.cancel('b', 70);
  backlog.passed(4);
  expect(backlog.bytes).toBe(300);
  // Adjacent uploads leave the backlog together.
  backlog.passed(5);
  expect(backlog.bytes).toBe(300);
  backlog.passed(6);
  expect(backlog.bytes).toBe(200);
  // A stage that restarts at an earlier position adds nothing to the backlog.
  backlog.passed(2);
  backlog.passed(10);
  expect(backlog.bytes).toBe(0);
  // A late report of a stored upload adds nothing.
  backlog.reserve('a', 50);
  backlog.place('a', 50, 9);
  expect(backlog.bytes).toBe(0);
});

test('small organizations get all they need, and the rest is shared equally', () => {
  const backlog = createBacklog(1);
  const fill = (organizationId: string, bytes: number) => backlog.reserve(organizationId, bytes);
  expect(backlog.exceedsShare('alone', 10, 300)).toBe(true);
  fill('large', 400);
  expect(backlog.exceedsShare('large', 1, 300)).toBe(true);
  expect(backlog.exceedsShare('small', 100, 300)).toBe(false);
  fill('small', 100);
  for (let n = 0; n < 20; n++) fill(`tiny ${n}`, 1);
  // The two share 300 − 20 bytes of tiny ones: small may have 140.
  expect(backlog.exceedsShare('small', 39, 300)).toBe(false);
  expect(backlog.exceedsShare('small', 40, 300)).toBe(true);
  expect(backlog.exceedsShare('large', 0, 300)).toBe(true);
  expect(backlog.exceedsShare('tiny 1', 30, 300)).toBe(false);
});
