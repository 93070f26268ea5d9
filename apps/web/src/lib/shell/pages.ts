/** The pages of an organization, as the navigation bar and the palette list them. */
export const pages = [
  { path: 'machines', name: 'Machines', mark: '▤' },
  { path: 'dashboards', name: 'Dashboards', mark: '▦' },
  { path: 'query', name: 'Query', mark: '∿' },
  { path: 'data', name: 'Data', mark: '▥' },
  { path: 'triggers', name: 'Triggers', mark: '⚑' },
  { path: 'deliveries', name: 'Deliveries', mark: '➤' },
  { path: 'billing', name: 'Billing', mark: '$' },
  { path: 'settings', name: 'Settings', mark: '⚙' },
] as const;
