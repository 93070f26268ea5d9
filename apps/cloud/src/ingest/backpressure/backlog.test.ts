import { expect, test } from 'vitest';
import { createBacklog } from './backlog.ts';

test('what an organization has in the backlog counts until the stage has passed it, and what is cancelled never does', () => {
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
  // Neighbours go together.
  backlog.passed(5);
  expect(backlog.bytes).toBe(300);
  backlog.passed(6);
  expect(backlog.bytes).toBe(200);
  // A stage that begins again behind does not bring anything back.
  backlog.passed(2);
  backlog.passed(10);
  expect(backlog.bytes).toBe(0);
  // Whoever is told late that it was stored adds nothing.
  backlog.reserve('a', 50);
  backlog.place('a', 50, 9);
  expect(backlog.bytes).toBe(0);
});

test('those with little have all of it, the others equal parts of the rest', () => {
  const backlog = createBacklog(1);
  const fill = (organizationId: string, bytes: number) => backlog.reserve(organizationId, bytes);
  expect(backlog.exceedsShare('alone', 10, 300)).toBe(true);
  fill('large', 400);
  expect(backlog.exceedsShare('large', 1, 300)).toBe(true);
  expect(backlog.exceedsShare('small', 100, 300)).toBe(false);
  fill('small', 100);
  for (let n = 0; n < 20; n++) fill(`tiny ${n}`, 1);
  // 300 − 20 tiny ones are shared by two: small may have 140.
  expect(backlog.exceedsShare('small', 39, 300)).toBe(false);
  expect(backlog.exceedsShare('small', 40, 300)).toBe(true);
  expect(backlog.exceedsShare('large', 0, 300)).toBe(true);
  expect(backlog.exceedsShare('tiny 1', 30, 300)).toBe(false);
});
