import { expect, test } from 'vitest';
import { type Dashboard, dashboardsOf, withDashboard } from './dashboard.ts';

const morning: Dashboard = {
  id: 'a',
  name: 'Morning',
  range: 60_000,
  panels: [{ id: 'p', title: 'Heat', language: 'sql', text: 'SELECT 1 AS one', show: 'number' }],
};

test('stored dashboards are read back, and other metadata stays', () => {
  const stored = withDashboard({ line: 'press' }, 'a', morning);
  expect(stored['line']).toBe('press');
  expect(dashboardsOf(stored)).toEqual([morning]);
  const both = withDashboard(stored, 'b', { ...morning, id: 'b', name: 'Evening' });
  expect(dashboardsOf(both).map(({ id }) => id)).toEqual(['b', 'a']);
  expect(dashboardsOf(withDashboard(both, 'a', undefined)).map(({ id }) => id)).toEqual(['b']);
});

test('metadata that others wrote under the same name does not break the page', () => {
  expect(dashboardsOf({ dashboards: 'none' })).toEqual([]);
  expect(dashboardsOf({ dashboards: { a: 7, b: { panels: [null, { show: 'pie', text: 'x' }] } } })).toEqual([
    { id: 'a', name: 'a', range: 3_600_000, panels: [] },
    {
      id: 'b',
      name: 'b',
      range: 3_600_000,
      panels: [
        { id: '0', title: '', language: 'mql', text: '', show: 'auto' },
        { id: '1', title: '', language: 'mql', text: 'x', show: 'auto' },
      ],
    },
  ]);
});
