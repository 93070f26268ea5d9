/** What is bundled: one file for each process and thread of the product, all in one folder, where they find each other by name. */

/** The source of each bundle. */
export const programs: Readonly<Record<string, string>> = {
  platform: 'apps/cli/src/main.ts',
  cloud: 'apps/cloud/src/main.ts',
  'admin-main': 'apps/cloud/src/admin-main.ts',
  tabular: 'apps/cloud/src/tabular/process/tabular.ts',
  'worker-thread': 'apps/cloud/src/tabular/process/query/worker-thread.ts',
  'log-thread': 'apps/cloud/src/ingest/log/log-thread.ts',
  'writer-thread': 'apps/cloud/src/metadata/sqlite/writer-thread.ts',
  'pdf-thread': 'apps/cloud/src/billing/pdf/pdf-thread.ts',
  'watch-thread': 'apps/cloud/src/watchdog/watch-thread.ts',
  'hash-thread': 'packages/base/src/hashing/hash-thread.ts',
  'machine-server': 'apps/machine-server/src/main.ts',
  'webrtc-engine': 'packages/webrtc/src/node/process/webrtc-engine.ts',
  'pwm-thread': 'apps/machine-server/src/hardware/gpio/pwm-thread.ts',
};

/** What another computer needs to be a machine: bundles, and a file that is copied. */
export const ofMachineServer: readonly string[] = ['machine-server', 'webrtc-engine', 'pwm-thread', 'hash-thread'];

/** Flags of the machine-server, beside the bundles: launchers read them before they have found a Node that could run a bundle. */
export const copied = 'apps/machine-server/node-flags.js';

/**
 * Of those that stay apart, the ones that are loaded when the code that imports them first runs, as in the sources: DuckDB reads its settings
 * from the environment while it is loaded. The other ones are loaded with the bundle.
 */
export const late = /^@duckdb\//;

/**
 * Packages that stay apart: native libraries, packages that read files of their own, and large ones that only some installations load.
 */
export const apart: readonly RegExp[] = [
  late,
  /^@fontsource-variable\//,
  /^(fontkit|koffi|mongodb|node-datachannel|pdfkit|pg-native|re2js|rolldown|stripe|subset-font)$/,
];
