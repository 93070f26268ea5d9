/** The possible subjects of each kind of request: everything in the world, ids that do not exist, and ids of another kind. */
import { randomUUID } from 'node:crypto';
import type { Known } from './build-data.ts';
import { organizationOf, type Person, type Place, type Subject } from './rules.ts';
import type { World } from './world.ts';

/** Subjects by the words of the column "on". */
export function subjectsOf(world: World, people: readonly Person[]): (on: string) => readonly Subject[] {
  const { place } = world;
  const all = [...world.places.values()];
  const ofKind = (kind: Place['kind']): Subject[] =>
    all.filter((one) => one.kind === kind).map((one) => ({ label: one.label, id: one.id, places: [one] }));
  const a = place('A').id;
  const unknownUuid: Subject = { label: 'unknown id', id: randomUUID() };
  const unknownLocation: Subject = { label: 'unknown id', id: 'zzzzzzzzzz' };
  const wrong = (of: string): Subject => ({ label: `id of ${of}`, id: place(of).id });

  const organizations = [...ofKind('organization'), unknownUuid, wrong('L')];
  const locations = [...ofKind('location'), unknownLocation, wrong('A'), wrong('M.L')];
  const machines = [...ofKind('machine'), unknownUuid, wrong('L'), wrong('P.L')];
  const parts = [...ofKind('part'), unknownUuid, wrong('M.L')];
  const fragments: Subject[] = [
    ...[...world.fragments].map(([label, fragment]) => ({ label, id: fragment.id, fragment })),
    unknownUuid,
    wrong('A'),
  ];
  // The organization in the request is another one: a combination that does not match does not exist.
  const elsewhere = [
    ['L', 'B'],
    ['LB', 'A'],
  ].map(([label = '', organization = '']): Subject => {
    const places = [place(label)];
    const said = { label: `${label}, said to be in ${organization}`, organizationId: place(organization).id };
    return { ...said, id: place(label).id, places, mismatched: true };
  });
  const ofResources: Subject[] = [
    ...all
      .filter(({ kind }) => kind !== 'part')
      .map((one) => ({
        label: one.label,
        id: one.id,
        organizationId: organizationOf(one).id,
        saidKind: one.kind,
        places: [one],
      })),
    { ...unknownUuid, organizationId: unknownUuid.id, saidKind: 'organization' as const },
    { ...unknownLocation, organizationId: a, saidKind: 'location' as const },
    { ...unknownLocation, label: 'unknown id in B', organizationId: place('B').id, saidKind: 'location' as const },
    { ...unknownUuid, label: 'unknown machine', organizationId: a, saidKind: 'machine' as const },
    { ...wrong('L'), organizationId: a, saidKind: 'machine' as const },
    { ...wrong('M.L'), organizationId: a, saidKind: 'location' as const },
    ...elsewhere.map((one) => ({ ...one, saidKind: 'location' as const })),
  ];
  const keys: Subject[] = [
    ...world.keys.map(({ id, label, grants }) => ({ label, id, places: grants.map(({ on }) => on), isKey: true })),
    unknownUuid,
    wrong('A'),
  ];
  const kept = (all: readonly Known[], of: string): Subject[] => [
    ...all.map(({ id, label, keptBy }) => ({ label, id, keptBy })),
    unknownUuid,
    wrong(of),
  ];
  const files: Subject[] = [
    ...world.files.map(({ id, label, keptBy, boxId }) => ({ label, id, second: boxId, keptBy })),
    unknownUuid,
    wrong('P.L'),
  ];
  const packages: Subject[] = [
    ...world.packages.map(({ id, label, keptBy }) => ({ label, id, keptBy })),
    { ...unknownUuid, id: `${unknownUuid.id}/tool` },
    unknownUuid,
    wrong('A'),
  ];
  const invitations: Subject[] = [
    ...world.invitations.map(({ label, organization, email, grants }) => ({
      label,
      id: email,
      organizationId: organization.id,
      places: grants.length === 0 ? [organization] : grants.map(({ on }) => on),
      invitedTo: organization,
    })),
    { label: 'unknown e-mail in A', id: 'nobody-a@example.com', organizationId: a, invitedTo: place('A'), places: [] },
    {
      label: 'unknown e-mail in B',
      id: 'nobody-b@example.com',
      organizationId: place('B').id,
      invitedTo: place('B'),
      places: [],
    },
    { label: 'unknown organization', id: 'nobody-c@example.com', organizationId: randomUUID() },
  ];
  const named: Subject[] = [
    ...ofKind('part').map((one) => inLocation(one, one.places?.[0])),
    { label: 'unknown name in L', id: place('L').id, second: 'nothing-of-this-name' },
    { label: 'unknown name in LB', id: place('LB').id, second: 'nothing-of-this-name' },
    { label: 'the name of another location', id: place('S').id, second: place('P.L').name },
    { label: 'unknown location', id: unknownLocation.id, second: place('P.L').name },
  ];
  const several: Subject[] = [
    ...locations,
    ...[
      ['L', 'S'],
      ['L', 'LB'],
      ['K', 'H'],
    ].map((labels) => {
      const places = labels.map(place);
      return { label: labels.join(' and '), id: places.map(({ id }) => id).join(), places };
    }),
    { label: 'L and an unknown one', id: `${place('L').id},${unknownLocation.id}` },
  ];
  const persons: Subject[] = [
    ...people.map((person) => ({ label: person.email, id: person.id, second: person.email, person })),
    { ...unknownUuid, second: 'nobody-at-all@example.com' },
  ];
  const parents: Subject[] = [
    ...organizations.map((one) => ({ ...one, organizationId: one.id, id: '' })),
    ...locations.map((one) => ({
      ...one,
      organizationId: one.places?.[0] === undefined ? a : organizationOf(one.places[0]).id,
    })),
    ...elsewhere,
  ];
  const byWords: Readonly<Record<string, readonly Subject[]>> = {
    '-': [{ label: '-', id: '' }],
    organization: organizations,
    location: locations,
    'each location': several,
    machine: machines,
    part: parts,
    'organization, location, machine or part': [
      ...organizations.map((one) => ({ ...one, saidKind: 'organization' as const })),
      ...locations.map((one) => ({ ...one, saidKind: 'location' as const })),
      ...machines.map((one) => ({ ...one, saidKind: 'machine' as const })),
      ...parts.map((one) => ({ ...one, saidKind: 'part' as const })),
    ],
    fragment: fragments,
    'the organization of the fragment': fragments,
    'each resource of the authorizations': ofResources,
    'a resource of the invitation': invitations,
    'each resource on which the key has a role': keys,
    'the part by that name in the location': named,
    'the parent location, or the organization': parents,
    'a person': persons,
    'saved query': kept(world.savedQueries, 'A'),
    'binary data': files,
    sequence: kept(world.sequences, 'P.L'),
    dataset: kept(world.datasets, 'A'),
    delivery: kept(world.deliveries, 'P.L'),
    package: packages,
    module: packages.map((one) => ({ ...one, id: one.id.replace('/', ':') })),
  };
  return (on) => {
    const subjects = byWords[on];
    if (subjects === undefined) throw new Error(`docs/specs/access.md: "${on}" in the column "on" is not understood`);
    return subjects;
  };
}

function inLocation(subject: Subject, part: Place | undefined): Subject {
  return { ...subject, id: part?.parent?.parent?.id ?? '', second: part?.name ?? '' };
}
