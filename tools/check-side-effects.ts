/**
 * Checks that clock, timers, randomness, environment, fetch and file system are used only in the listed files; all other code gets them
 * passed in.
 */
import { filesToCheck, isSource, isTest, read, report, withoutComments } from './repository.ts';

interface Rule {
  readonly name: string;
  readonly pattern: RegExp;
  /** Paths relative to the root, or their ends after `*`. The name of each explains why it is allowed. */
  readonly allowed: readonly string[];
  /** Absent: everywhere. */
  readonly within?: string;
  readonly instead: string;
}

/** Texts of pages; they run in a browser. */
const pagesInBrowser = ['apps/cloud/src/edge/status-page.ts', 'apps/cloud/src/edge/sign-in/page-script.ts'];

const rules: readonly Rule[] = [
  {
    name: 'environment',
    pattern: /\bprocess\.env\b/,
    allowed: [
      '*/settings.ts',
      'packages/testkit/*',
      'apps/cloud/src/main.ts',
      'apps/machine-server/src/main.ts',
      'apps/machine-server/src/thread-pool.ts',
      // Configures DuckDB's allocator, which has no other interface.
      'apps/cloud/src/tabular/process/tabular.ts',
    ],
    instead: 'read it in settings.ts',
  },
  {
    name: 'process of the command line',
    pattern: /\bprocess\.(?:stdin|stdout|stderr|exit|exitCode|on|once|off)\b/,
    within: 'apps/cli/src/',
    allowed: [
      'apps/cli/src/main.ts',
      // Gives its terminal to another process.
      'apps/cli/src/commands/admin/define-admin-command.ts',
    ],
    instead: 'use context.invocation, because tests run commands in their own process',
  },
  {
    name: 'clock',
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.hrtime/,
    allowed: [
      'packages/base/src/async/clock.ts',
      'packages/testkit/*',
      'apps/cli/src/up/run-up.ts',
      // Measures how long a computation holds the event loop.
      'packages/base/src/async/turns.ts',
      'apps/cloud/src/metadata/sqlite/writer-thread.ts',
      // A separate thread whose purpose is timing.
      'apps/machine-server/src/hardware/gpio/pwm-thread.ts',
      'apps/web/src/lib/ui/now.svelte.ts',
    ],
    instead: 'take a Clock',
  },
  {
    name: 'timers',
    pattern: /\bset(?:Timeout|Interval)\(|\bset(?:Timeout|Interval)\b.*['"]node:timers/,
    allowed: [
      'packages/base/src/async/clock.ts',
      'packages/testkit/*',
      // Yields to the event loop.
      'packages/query/src/execute/limits/budget.ts',
      // Separate threads and processes, whose deadlines detect hangs.
      'apps/cloud/src/metadata/sqlite/writer-thread.ts',
      'apps/cloud/src/tabular/process/tabular.ts',
      'apps/cli/src/up/pause.ts',
      // In a browser.
      'apps/web/src/lib/ui/*',
      'apps/web/src/lib/api/*',
      'apps/web/src/lib/machine/motion/*',
      ...pagesInBrowser,
    ],
    instead: 'take a Clock',
  },
  {
    // A default parameter is a port; ids and secrets come from the system and are never seeded.
    name: 'randomness',
    pattern: /(?<!= )\bMath\.random\b/,
    allowed: ['packages/testkit/*'],
    instead: 'take `random: () => number = Math.random`',
  },
  {
    name: 'fetch',
    pattern: /(?<![.#\w'"])(?<!async )fetch\(/,
    allowed: [
      'packages/sdk/src/cloud/open-cloud.ts',
      'apps/cloud/src/outbox/webhook/send-webhook.ts',
      'apps/cloud/src/outbox/push/provider.ts',
      'apps/cloud/src/billing/payments/stripe/open-stripe.ts',
      '*/config/fetch.ts',
      // Devices on the network that answer over HTTP.
      'apps/machine-server/src/hardware/fetch-text.ts',
      // Exchanges the code before there is a session for a cloud connection.
      'apps/cli/src/login/sign-in-by-browser.ts',
      // From a browser to the cloud that served the page.
      'apps/web/src/lib/api/*',
      ...pagesInBrowser,
      // Code that it generates.
      'apps/web/src/lib/settings/snippets.ts',
    ],
    instead: 'take the link, or a function that asks',
  },
  {
    // Folders whose purpose is files; elsewhere the one file that writes, reads or removes files.
    name: 'file system',
    pattern: /^(?!\s*import type\b).*['"]node:fs(?:\/promises)?['"]/,
    allowed: [
      'packages/testkit/*',
      // Tells the processor time of the main thread, and records why the process ends.
      'packages/base/src/process/watchdog/watch-main-thread.ts',
      // Reads how many files may be open.
      'packages/rpc/src/listener/connections/descriptor-limit.ts',
      // Reads the source map of a bundle.
      'packages/base/src/process/stacks/in-sources.ts',
      // Opens files that others named.
      'packages/base/src/files/*',
      // Reads and writes files that the user names.
      'apps/cli/src/*',
      'packages/sdk/src/cloud/save-file.ts',
      'apps/cloud/src/admin-main.ts',
      'apps/cloud/src/data-directory.ts',
      // The files of the web UI, which are part of the program.
      'apps/cloud/src/edge/web/web-ui.ts',
      'apps/cloud/src/admin/doctor/check-files.ts',
      'apps/cloud/src/admin/control-channel.ts',
      'apps/cloud/src/admin/doctor/doctor.ts',
      'apps/cloud/src/admin/repair/repair-files.ts',
      'apps/cloud/src/admin/repair/repair-log.ts',
      'apps/cloud/src/admin/repair/repair-payloads.ts',
      'apps/cloud/src/admin/repair/restore-readings.ts',
      'apps/cloud/src/admin/repair/restore-rows.ts',
      'apps/cloud/src/admin/repair/write-restored.ts',
      'apps/cloud/src/backup/*',
      'apps/cloud/src/blobs/*',
      'apps/cloud/src/ingest/staged/staged-uploads.ts',
      'apps/cloud/src/ingest/staged/staged-bytes.ts',
      'apps/cloud/src/ingest/staged/staged-files.ts',
      // Fonts are files of packages.
      'apps/cloud/src/billing/pdf/fonts.ts',
      // The program and the Node that other computers fetch.
      'apps/cloud/src/connect/bundle.ts',
      'apps/cloud/src/connect/collect-program.ts',
      'apps/cloud/src/demo/prepare-demo.ts',
      'apps/cloud/src/billing/payments/settings.ts',
      'apps/cloud/src/identity/settings.ts',
      'apps/cloud/src/signaling/settings.ts',
      'apps/cloud/src/ingest/disk/ballast.ts',
      'apps/cloud/src/ingest/disk/start-reserve.ts',
      'apps/cloud/src/ingest/disk/free-space.ts',
      'apps/cloud/src/instance/*',
      'apps/cloud/src/metadata/sqlite/can-be-read.ts',
      'apps/cloud/src/metadata/sqlite/make-durable.ts',
      'apps/cloud/src/tabular/memory-limit.ts',
      'apps/cloud/src/metadata/claim-installation.ts',
      'apps/cloud/src/tabular/feature.ts',
      'apps/cloud/src/watchdog/past-ends.ts',
      'apps/cloud/src/tabular/catalog/remove-unlisted.ts',
      'apps/cloud/src/tabular/process/*',
      'apps/machine-server/src/serve/pages/shared-files.ts',
      'apps/machine-server/src/certificate/*',
      'apps/machine-server/src/config/cache.ts',
      'apps/machine-server/src/config/read-document.ts',
      'apps/machine-server/src/directories/*',
      'apps/machine-server/src/gaps/alive.ts',
      'apps/machine-server/src/gaps/written-note.ts',
      'apps/machine-server/src/docdb/queue.ts',
      'apps/machine-server/src/gaps/gap-journal.ts',
      'apps/machine-server/src/call-record/journal-disk.ts',
      'apps/machine-server/src/ftdc/*',
      // Devices are files of the kernel.
      'apps/machine-server/src/hardware/*',
      // Its images are files.
      'apps/machine-server/src/models/components/camera/image-file.ts',
      // Copies files.
      'apps/machine-server/src/models/services/shell/*',
      'apps/machine-server/src/logging/*',
      // The readings of this computer come from system files.
      'apps/machine-server/src/models/components/sensor/host/*',
      'apps/machine-server/src/modules/*',
      'apps/machine-server/src/packages/*',
      'apps/machine-server/src/sync/*',
      // Whether its program is installed.
      'packages/webrtc/src/node/engine-child.ts',
      // Removes the socket of a killed module.
      'packages/sdk/src/module/start-module.ts',
      // Makes a folder for the socket of the program that it calls.
      'packages/sdk/src/module/describe-module.ts',
    ],
    instead: 'take a store, or a function that reads',
  },
];

/** The problems of one file. */
export function checkSideEffects(path: string, text: string): string[] {
  if (isTest(path)) return [];
  const lines = withoutComments(text).split('\n');
  return rules
    .filter(({ allowed, within = '' }) => path.startsWith(within) && !allowed.some((entry) => matches(path, entry)))
    .flatMap(({ name, pattern, instead }) =>
      lines.flatMap((line, index) =>
        pattern.test(line) ? [`${path}:${index + 1}: ${name} used outside the named files; ${instead}`] : [],
      ),
    );
}

function matches(path: string, entry: string): boolean {
  if (entry.startsWith('*')) return path.endsWith(entry.slice(1));
  return entry.endsWith('*') ? path.startsWith(entry.slice(0, -1)) : path === entry;
}

export function main(): void {
  const files = filesToCheck(['apps', 'packages'], (path) => isSource(path) && path.includes('/src/'));
  report(
    'side effects',
    files.flatMap((path) => checkSideEffects(path, read(path))),
    `${files.length} files`,
  );
}

if (import.meta.main) main();
