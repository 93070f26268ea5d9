import { create } from '@bufbuild/protobuf';
import { GoToPointRequestSchema, NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import type { Navigation } from '@platform/resources';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { buildModel, clientOf } from '../../../testing/build-model.ts';
import { createFakeNavigation } from './fake.ts';

const name = 'it';
const pose = (x: number, y = 0) => ({ value: { case: 'pose', value: { x, y, oZ: 1 } } }) as const;
const place = (latitude: number, longitude: number) =>
  ({ value: { case: 'geoPose', value: { location: { latitude, longitude } } } }) as const;
const at = (location: string) => ({ value: { case: 'location', value: location } }) as const;
const stop = (x: number, y = 0) => ({ value: { case: 'position', value: pose(x, y) } }) as const;
const [active, suspended, succeeded, canceled] = [1, 2, 3, 5];
const [planned, direct, along] = [1, 2, 3];

async function start(attributes = {}) {
  const clock = new FakeClock();
  const resource = (await buildModel(createFakeNavigation(clock), attributes)) as Navigation;
  return { clock, resource, navigation: clientOf(NavigationService, resource) };
}

test('locations, routes and zones are saved, listed, changed, renamed and deleted', async () => {
  const { navigation } = await start();
  await navigation.addLocation({ name, locationName: 'dock', position: pose(500) });
  expect((await navigation.addLocation({ name, locationName: 'here' })).location).toMatchObject({ position: pose(0) });
  await expect(navigation.addLocation({ name, locationName: 'dock' })).rejects.toMatchObject({
    code: 'already_exists',
  });
  const moved = await navigation.updateLocation({ name, locationName: 'dock', position: pose(700), newName: 'port' });
  expect(moved.location).toMatchObject({ name: 'port', position: pose(700) });
  expect((await navigation.listLocations({ name })).locations.map((each) => each.name)).toEqual(['here', 'port']);
  await expect(navigation.getLocation({ name, locationName: 'dock' })).rejects.toMatchObject({
    ...{ code: 'not_found', message: 'location_name: there is no location "dock"' },
  });
  await expect(navigation.getLocation({ name })).rejects.toThrow('expected the name of a saved location, found none');
  await navigation.deleteLocation({ name, locationName: 'here' });
  expect((await navigation.listLocations({ name })).locations).toHaveLength(1);

  await navigation.addRoute({ name, routeName: 'tour', waypoints: [at('port'), stop(1, 2)] });
  expect((await navigation.updateRoute({ name, routeName: 'tour', newName: 'trip' })).route?.waypoints).toHaveLength(2);
  const emptied = await navigation.updateRoute({ name, routeName: 'trip', waypoints: {} });
  expect(emptied.route).toMatchObject({ name: 'trip', waypoints: [] });
  expect((await navigation.getRoute({ name, routeName: 'trip' })).route?.name).toBe('trip');
  await navigation.deleteRoute({ name, routeName: 'trip' });
  expect((await navigation.listRoutes({ name })).routes).toEqual([]);
  await expect(navigation.addRoute({ name, routeName: 'no', waypoints: [{}] })).rejects.toThrow(
    'waypoints[0]: expected the name of a location or a position, found none',
  );

  const geometry = { type: 'circle', radius: 100 };
  await navigation.addZone({ name, zoneName: 'stairs', type: 'keepout', geometry });
  await navigation.addZone({ name, zoneName: 'aisle', type: 'speed_limit', geometry, maxSpeed: 0.3 });
  expect((await navigation.listZones({ name, type: 'keepout' })).zones).toMatchObject([{ name: 'stairs', geometry }]);
  const slower = await navigation.updateZone({ name, zoneName: 'aisle', maxSpeed: 0.1 });
  expect(slower.zone).toMatchObject({ type: 'speed_limit', geometry, maxSpeed: 0.1 });
  expect((await navigation.getZone({ name, zoneName: 'aisle' })).zone).toEqual(slower.zone);
  await expect(navigation.updateZone({ name, zoneName: 'stairs', type: 'speed_limit' })).rejects.toThrow('max_speed');
  await expect(navigation.addZone({ name, zoneName: 'a', type: 'lawn', geometry })).rejects.toThrow('"keepout" or');
  await expect(navigation.addZone({ name, zoneName: 'a', type: 'keepout' })).rejects.toThrow('geometry: expected');
  await navigation.deleteZone({ name, zoneName: 'stairs' });
  expect((await navigation.listZones({ name })).zones).toHaveLength(1);
});

test('it drives to a point on the clock, is suspended and resumed on the way, and arrives', async () => {
  const { clock, navigation } = await start({ m_per_sec: 0.5 });
  expect((await navigation.getNavigationStatus({ name })).status?.goal).toBeUndefined();
  const { status } = await navigation.navigateToPoint({ name, destination: pose(1_000) });
  expect(status).toMatchObject({
    ...{ position: pose(0), localized: true, velocity: { linearMPerSec: 0.5 } },
    goal: { state: active, mode: planned, target: pose(1_000), progress: { distanceRemainingM: 1, lengthM: 1 } },
  });
  await clock.advance(1_000);
  expect((await navigation.getPosition({ name })).position).toMatchObject(pose(500));
  const halted = await navigation.suspend({ name, reason: 'a child' });
  expect(halted.status).toMatchObject({
    velocity: { linearMPerSec: 0 },
    goal: { state: suspended, suspendReason: 'a child' },
  });
  expect(halted.status?.goal?.progress).toBeUndefined();
  await expect(navigation.suspend({ name })).rejects.toThrow('Suspend: expected an active goal, found SUSPENDED');
  await clock.advance(5_000);
  expect((await navigation.getPosition({ name })).position).toMatchObject(pose(500));
  expect((await navigation.resume({ name })).status?.goal).toMatchObject({ state: active });
  await clock.advance(900);
  expect((await navigation.getNavigationStatus({ name })).status?.goal?.state).toBe(active);
  await clock.advance(200);
  const arrived = (await navigation.getNavigationStatus({ name })).status;
  expect(arrived).toMatchObject({ position: pose(1_000), velocity: { linearMPerSec: 0 }, goal: { state: succeeded } });
  expect(arrived?.goal?.finishedAt).toBeDefined();
  await expect(navigation.resume({ name })).rejects.toThrow('Resume: expected a suspended goal, found SUCCEEDED');
});

test('GoTo… waits for the arrival unless told otherwise; Cancel ends the wait, and so does a caller that goes away', async () => {
  const { clock, navigation, resource } = await start({ m_per_sec: 0.5 });
  await navigation.addLocation({ name, locationName: 'dock', position: pose(0, 3_000) });
  const going = navigation.goToLocation({ name, locationName: 'dock', linearMPerSec: 1 });
  await clock.advance(1_000);
  expect((await navigation.getNavigationStatus({ name })).status).toMatchObject({
    position: pose(0, 1_000),
    goal: { state: active, mode: direct, location: 'dock', progress: { distanceRemainingM: 2, path: [] } },
  });
  expect((await navigation.cancel({ name })).status?.goal).toMatchObject({ state: canceled });
  expect((await going).status).toMatchObject({ position: pose(0, 1_000), goal: { state: canceled } });

  const { status } = await navigation.goToPoint({ name, destination: pose(0), wait: false });
  expect(status?.goal).toMatchObject({ state: active });
  const caller = new AbortController();
  const left = resource.goToPoint(create(GoToPointRequestSchema, { destination: pose(0) }), { signal: caller.signal });
  caller.abort();
  await expect(left).rejects.toThrow();
  expect((await navigation.getNavigationStatus({ name })).status?.goal).toMatchObject({ state: canceled });
  await expect(navigation.goToPoint({ name, destination: pose(0), linearMPerSec: 0 })).rejects.toThrow(
    'linear_m_per_sec',
  );
});

test('a route is driven from its nearest waypoint, in laps; what would take no time is refused', async () => {
  const { clock, navigation } = await start({ m_per_sec: 1 });
  await navigation.addLocation({ name, locationName: 'dock', position: pose(1_000) });
  await navigation.addRoute({ name, routeName: 'tour', waypoints: [stop(3_000), at('dock')] });
  const begun = await navigation.navigateRoute({ name, routeName: 'tour', startNearest: true, loop: true });
  expect(begun.status?.goal).toMatchObject({
    ...{ mode: along, target: pose(1_000), location: 'dock' },
    route: { name: 'tour', index: 1, loop: true, lap: 0 },
  });
  await clock.advance(1_000);
  await clock.advance(500);
  const second = (await navigation.getNavigationStatus({ name })).status;
  expect(second).toMatchObject({ position: pose(1_500), goal: { target: pose(3_000), route: { index: 0, lap: 1 } } });
  await navigation.cancel({ name });
  expect((await navigation.getPosition({ name })).position).toMatchObject(pose(1_500));

  await expect(navigation.navigateRoute({ name, waypoints: [stop(5)], loop: true })).rejects.toThrow('loop: expected');
  await expect(navigation.navigateRoute({ name, waypoints: [at('moon')] })).rejects.toMatchObject({
    code: 'not_found',
  });
  const long = Array.from({ length: 1_001 }, () => stop(5));
  await expect(navigation.addRoute({ name, routeName: 'long', waypoints: long })).rejects.toThrow('at most 1000');
  await expect(navigation.navigateRoute({ name })).rejects.toThrow('expected at least one waypoint');
  await expect(navigation.navigateRoute({ name, waypoints: [stop(5)], startIndex: 1 })).rejects.toThrow('start_index');
  await expect(navigation.navigateRoute({ name, routeName: 'tour', waypoints: [stop(5)] })).rejects.toThrow(
    'found both',
  );
});

test('plans are straight lines, which can be driven later; without a speed it arrives at once', async () => {
  const { navigation } = await start({ latitude: 48, longitude: 11 });
  const { plan } = await navigation.planToPoint({ name, destination: place(49, 11) });
  expect(plan?.lengthM).toBeCloseTo(111_195, -1);
  expect((await navigation.getPosition({ name })).position).toMatchObject(place(48, 11));
  if (plan === undefined) throw new Error('expected a plan');
  expect((await navigation.executePlan({ name, plan })).status).toMatchObject({
    ...{ position: place(49, 11), goal: { state: succeeded, mode: planned, target: place(49, 11) } },
  });
  await navigation.addLocation({ name, locationName: 'dock', position: place(1, 2) });
  const known = await navigation.planToLocation({ name, locationName: 'dock', start: place(1, 1) });
  expect(known.plan).toMatchObject({ location: 'dock', path: [place(1, 1), place(1, 2)] });
  await expect(navigation.executePlan({ name })).rejects.toThrow('plan: expected');
  expect((await navigation.navigateToLocation({ name, locationName: 'dock' })).status).toMatchObject({
    ...{ position: place(1, 2), goal: { location: 'dock' } },
  });
});

test('positions must be on its map, and its properties say which that is', async () => {
  const [onGlobe, onMap] = [(await start({ latitude: 48, longitude: 11 })).navigation, (await start()).navigation];
  const supported = { planningSupported: true, costmapSupported: true, zonesSupported: true, routesSupported: true };
  expect((await onGlobe.getProperties({ name })).properties).toMatchObject({ mapType: 2, ...supported });
  expect((await onMap.getProperties({ name })).properties).toMatchObject({ mapType: 1, ...supported });
  await expect(onGlobe.navigateToPoint({ name, destination: pose(1) })).rejects.toThrow(
    'destination: expected a geo_pose (see GetProperties), found pose',
  );
  await expect(onMap.addLocation({ name, locationName: 'a', position: place(1, 2) })).rejects.toThrow(
    'expected a pose',
  );
  await expect(onMap.navigateToPoint({ name })).rejects.toThrow(
    'destination: expected a pose (see GetProperties), found none',
  );
  await expect(onGlobe.planToPoint({ name, destination: place(91, 0) })).rejects.toThrow(
    'destination.geo_pose.location',
  );
});

test('its costmap is the free square around it', async () => {
  const { navigation } = await start();
  await navigation.navigateToPoint({ name, destination: pose(5_000) });
  const { data, ...map } = await navigation.getCostmap({ name });
  expect(map).toMatchObject({ available: true, layer: 'auto', originX: 3, originY: -2, resolution: 0.1, width: 40 });
  expect(data).toEqual(new Uint8Array(40 * 40));
  expect((await navigation.getCostmap({ name, layer: 'local', stride: 1_000 })).data).toHaveLength(1);
  await expect(navigation.getCostmap({ name, layer: 'x' })).rejects.toThrow(
    'layer: expected "auto", "local" or "global"',
  );
});
