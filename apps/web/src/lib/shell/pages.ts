/** The pages of an organization, as the navigation bar and the palette list them. On a phone, the bar has room for some; the rest is under *More*. */
export const pages = [
  { path: 'machines', name: 'Machines', mark: '▤', onPhone: true },
  { path: 'dashboards', name: 'Dashboards', mark: '▦', onPhone: false },
  { path: 'query', name: 'Query', mark: '∿', onPhone: false },
  { path: 'data', name: 'Data', mark: '▥', onPhone: true },
  { path: 'triggers', name: 'Triggers', mark: '⚑', onPhone: true },
  { path: 'deliveries', name: 'Deliveries', mark: '➤', onPhone: true },
  { path: 'billing', name: 'Billing', mark: '$', onPhone: false },
  { path: 'settings', name: 'Settings', mark: '⚙', onPhone: false },
] as const;
