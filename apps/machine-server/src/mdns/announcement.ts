/** The multicast DNS records of this server: the names by which public clients look for a machine in their network. Pure. */
import { type DnsRecord, type Question, recordTypes } from './dns-message.ts';

export interface Announcement {
  /** The host name of this computer, without a domain. */
  readonly hostName: string;
  /** The name of the machine, such as `PART.LOCATION.machines.local`; empty if it has none. */
  readonly machineName: string;
  readonly port: number;
}

/** The service type that public clients look for. */
const service = '_rpc._tcp.local';
/** Tells public clients which protocols a machine speaks. */
const protocols = ['grpc'];

/** Each instance has its name with dots, and with dashes instead: clients look for both. */
function instancesOf({ hostName, machineName }: Announcement): string[] {
  const name = machineName || hostName;
  return [...new Set([name, name.replaceAll('.', '-')])].map((each) => `${each}.${service}`);
}

export function recordsOf(announcement: Announcement, addresses: readonly string[]): DnsRecord[] {
  const { hostName, machineName, port } = announcement;
  const host = `${hostName}.local`;
  const named = machineName.endsWith('.local') ? [host, machineName] : [host];
  return [
    ...instancesOf(announcement).flatMap((name): DnsRecord[] => [
      { name: service, type: 'ptr', target: name },
      { name, type: 'srv', target: host, port },
      { name, type: 'txt', texts: protocols },
    ]),
    ...named.flatMap((name) => addresses.map((address): DnsRecord => ({ name, type: 'a', address }))),
  ];
}

/** The records that answer the questions, and those that the client will ask for next. Without answers, the questions are about others. */
export function answersTo(
  questions: readonly Question[],
  records: readonly DnsRecord[],
): { readonly answers: readonly DnsRecord[]; readonly additional: readonly DnsRecord[] } {
  const answers = records.filter((record) =>
    questions.some(
      ({ name, type }) =>
        name === record.name.toLowerCase() && (type === recordTypes.any || type === recordTypes[record.type]),
    ),
  );
  const isUseful = answers.some(({ type }) => type === 'ptr' || type === 'srv');
  const additional = isUseful ? records.filter((record) => record.type !== 'ptr' && !answers.includes(record)) : [];
  return { answers, additional };
}
