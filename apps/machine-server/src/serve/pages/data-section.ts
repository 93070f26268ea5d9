/** Capture and sync on the status page. */
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { type Html, html } from './html.ts';

const columns: Readonly<Record<string, string>> = {
  captured: 'Captured',
  missed: 'Missed',
  queued: 'Queued',
  uploaded_readings: 'Uploaded',
  waiting_files: 'Waiting files',
  quarantined_files: 'Set aside',
  discarded_readings: 'Discarded',
  oldest_waiting: 'Oldest waiting',
  last_error: 'Last error',
};

/** @param data GetStatus of the data manager */
export function dataSection(data: JsonObject): Html {
  const resources = Object.entries((data['resources'] ?? {}) as Readonly<Record<string, JsonObject>>);
  const summary = [
    `sync: ${text(data['state'])}`,
    `${text(data['waiting_files'])} files waiting`,
    `${text(data['quarantined_files'])} set aside`,
    `${text(data['discarded_files'])} discarded`,
    ...(data['next_attempt'] === null ? [] : [`next attempt ${text(data['next_attempt'])}`]),
  ].join(', ');
  return html`<h2>Data</h2>
<p>${summary}</p>
${data['last_error'] === '' ? [] : html`<p class="note bad">${text(data['last_error'])}</p>`}
<table>
<thead><tr><th scope="col">Resource</th>${Object.values(columns).map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${resources.map(
  ([
    name,
    values,
  ]) => html`<tr><td>${name}</td>${Object.keys(columns).map((key) => html`<td>${text(values[key])}</td>`)}</tr>
`,
)}
</tbody>
</table>
`;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
