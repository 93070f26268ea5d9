/** The page at `/`: what runs, what does not and why, and which configuration is applied or waiting. No scripts. */

import type { JsonObject } from '@bufbuild/protobuf';
import { formatResourceName } from '@platform/resources';
import type { ResourceState, ResourceStatus } from '../../graph/node.ts';
import type { MachineFacts, MachineRpcDeps } from '../machine-rpc.ts';
import { dataSection } from './data-section.ts';
import { type Html, html } from './html.ts';
import type { RestartStatus } from './restart-status.ts';

export interface StatusPage {
  readonly facts: MachineFacts;
  readonly resources: readonly ResourceStatus[];
  /** See MachineRpcDeps. */
  readonly warningsOf: MachineRpcDeps['warningsOf'];
  readonly restart: RestartStatus;
  /** GetStatus of the data manager; undefined if none runs. */
  readonly data: JsonObject | undefined;
  /** Wall clock ms. */
  readonly nowMs: number;
}

const order: Readonly<Record<ResourceState, number>> = { unhealthy: 0, configuring: 1, removing: 2, ready: 3 };

export function statusPage({ facts, resources, warningsOf, restart, data, nowMs }: StatusPage): Html {
  const { version, running, partId, config, appliedMs, held, error } = facts;
  const unhealthy = resources.filter(({ state }) => state === 'unhealthy').length;
  const summary = `${resources.length} ${resources.length === 1 ? 'resource' : 'resources'}, ${unhealthy} not running`;
  const sorted = resources.toSorted(
    (a, b) => order[a.state] - order[b.state] || a.config.name.localeCompare(b.config.name),
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="10">
<title>machine-server: ${summary}</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8885; overflow-wrap: anywhere; }
/* Short columns keep their words: only the last one has texts of any length. */
th, td:not(:last-child) { overflow-wrap: break-word; max-width: 16rem; }
.bad { color: #c62828; font-weight: 600; }
.note { border-left: 4px solid #f9a825; padding: .3rem .8rem; margin: 1rem 0; }
</style>
</head>
<body>
<h1>machine-server</h1>
<table>
<tr><th scope="row">State</th><td>${running ? 'running' : 'starting'}, ${summary}</td></tr>
<tr><th scope="row">Version</th><td>${version}</td></tr>
<tr><th scope="row">Part</th><td>${partId || 'none: the configuration is a local file'}</td></tr>
<tr><th scope="row">Configuration</th><td>revision ${config.revision || 'none'}, applied ${timeOf(appliedMs)} (${ago(nowMs - appliedMs)})</td></tr>
<tr><th scope="row">Restart now</th><td>${restart.restart_allowed ? 'would interrupt nothing' : restart.reasons.join('; ')}</td></tr>
</table>
${error === '' ? [] : html`<p class="note bad">${error}</p>`}
${
  held === undefined
    ? []
    : html`<p class="note">A newer configuration (revision ${held.revision}) has been waiting for the maintenance window since ${timeOf(held.sinceMs)} (${ago(nowMs - held.sinceMs)}): ${held.reason}</p>`
}
<h2>Resources</h2>
<table>
<thead><tr><th scope="col">Name</th><th scope="col">API</th><th scope="col">Model</th><th scope="col">State</th><th scope="col">Since</th><th scope="col">Errors and warnings</th></tr></thead>
<tbody>
${sorted.map((each) => row(each, warningsOf(formatResourceName(each.config))))}
</tbody>
</table>
${data === undefined ? [] : dataSection(data)}
</body>
</html>
`;
}

function row({ config, state, error, since }: ResourceStatus, warnings: readonly string[]): Html {
  const told = [...(error === '' ? [] : [error]), ...warnings].join('; ');
  return html`<tr><td>${config.name}</td><td>${config.api}</td><td>${config.model}</td><td${state === 'unhealthy' ? html` class="bad"` : ''}>${state}</td><td>${timeOf(since)}</td><td>${told}</td></tr>
`;
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return 'less than a minute ago';
  if (minutes < 120) return `${minutes} min ago`;
  return minutes < 2_880 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1_440)} days ago`;
}
