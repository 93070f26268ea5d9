/**
 * Tests that repeat under load, faults and little memory what shorter ones prove: 15 % of the time of all tests. `npm test -- --long` and
 * `npm run fault` run them; a run of all tests leaves them out.
 */

/** Projects of vitest: those of a run of all tests, and that of the long ones. */
export const shortLanes: readonly string[] = ['sqlite', 'postgres'];
export const longLane = 'long';

export const longTests = '**/*.long.test.ts';
