-- What the fleet did, for both engines. Seconds are wall seconds unless a name says otherwise.

-- Where the wall of a run's ranks went.
CREATE OR REPLACE VIEW fleet_split AS
SELECT run, count(*) AS profiles, sum(r.wall_s) AS wall_s,
       100 * sum(r.dsl_s) / sum(r.wall_s) AS dsl_pct,
       100 * sum(r.framework_s) / sum(r.wall_s) AS framework_pct,
       100 * sum(r.transfer_s) / sum(r.wall_s) AS transfer_pct,
       100 * sum(r.profiler_s) / sum(r.wall_s) AS profiler_pct
FROM runs AS r GROUP BY run ORDER BY run;

-- What each rank took of its own time, waiting left out: of ranks that wait for one another all
-- last as long as the slowest.
CREATE OR REPLACE VIEW rank_times AS
SELECT run, host, rank, sum(p.threads_lifetime_s) AS thread_s, sum(p.waiting_s) AS waiting_s,
       sum(p.threads_lifetime_s) - sum(p.waiting_s) AS busy_s,
       sum(p.dsl_thread_s) AS dsl_s, sum(p.transfer_thread_s) AS transfer_s
FROM processes AS p GROUP BY run, host, rank;

-- Ranks by how far their busy time is from the median of their run, in robust deviations (1.4826
-- times the median distance from the median, and at least a hundredth of the median). Beyond 3.5 is
-- a straggler.
CREATE OR REPLACE VIEW stragglers AS
SELECT t.run AS run, t.host AS host, t.rank AS rank, t.busy_s AS busy_s,
       m.median_s AS median_s, t.waiting_s AS waiting_s,
       (t.busy_s - m.median_s)
           / nullif(greatest(1.4826 * d.mad_s, 0.01 * m.median_s), 0) AS z
FROM rank_times AS t
JOIN (SELECT run, median(busy_s) AS median_s FROM rank_times GROUP BY run) AS m ON m.run = t.run
JOIN (SELECT a.run AS run, median(abs(a.busy_s - b.median_s)) AS mad_s
      FROM rank_times AS a
      JOIN (SELECT run, median(busy_s) AS median_s FROM rank_times GROUP BY run) AS b
        ON b.run = a.run
      GROUP BY a.run) AS d ON d.run = t.run
ORDER BY z DESC;

-- Copies by host and direction.
CREATE OR REPLACE VIEW transfer_by_host AS
SELECT run, host, direction, sum(c.count) AS copies, sum(c.bytes) AS copied_bytes,
       sum(c.device_s) AS moving_s, sum(c.exposed_s) AS exposed_thread_s,
       sum(c.bytes) / nullif(sum(c.device_s), 0) / 1e9 AS mean_gb_s
FROM transfers AS c GROUP BY run, host, direction ORDER BY exposed_thread_s DESC;

CREATE OR REPLACE VIEW slowest_tasks AS
SELECT run, host, rank, name, id, duration_s, wall_s, waiting_s, dsl_s, framework_s, transfer_s,
       failed, unfinished
FROM tasks ORDER BY duration_s DESC;

-- Functions of every pair of runs, the later one second: what a call and all of them changed by.
CREATE OR REPLACE VIEW function_sums AS
SELECT run, name, library, sum(f.calls) AS calls, sum(f.self_s) AS self_s
FROM functions AS f GROUP BY run, name, library;

CREATE OR REPLACE VIEW regressions AS
SELECT a.run AS old_run, b.run AS new_run, a.name AS name, a.library AS library,
       a.self_s AS old_s, b.self_s AS new_s, b.self_s - a.self_s AS change_s,
       a.calls AS old_calls, b.calls AS new_calls
FROM function_sums AS a
JOIN function_sums AS b ON a.name = b.name AND a.library = b.library
JOIN (SELECT r.run AS run, min(r.began_s) AS began_s FROM runs AS r GROUP BY r.run) AS x ON x.run = a.run
JOIN (SELECT r.run AS run, min(r.began_s) AS began_s FROM runs AS r GROUP BY r.run) AS y ON y.run = b.run
WHERE y.began_s > x.began_s
ORDER BY change_s DESC;
