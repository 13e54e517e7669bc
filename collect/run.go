package collect

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"fatview/index"
	"fatview/pack"
)

// walker is what the arguments of one run share.
type walker struct {
	opt       Options
	filter    filter
	pool      *workers
	gate      *gate // nil unless streaming
	files     *pool
	progress  *Progress
	memory    *pack.Memory // of all packages together
	stdinRead bool         // of the goroutine that starts the arguments
}

// Run looks at all arguments. It calls emit, if that is not nil, for each
// place with something to show, in order, from the goroutine that called Run.
// It returns when all are done or ctx has ended; the files are the caller's to
// close.
func Run(ctx context.Context, args []string, o Options, emit func(Batch)) *Result {
	w := &walker{opt: o, pool: newWorkers(defaultWorkers()), files: &pool{}, progress: o.Progress, memory: &pack.Memory{}}
	if w.progress == nil {
		w.progress = &Progress{}
	}
	if o.Stream {
		g, stop := newGate(ctx)
		defer stop()
		w.gate = g
	}
	res := &Result{byFile: map[*index.File]*Arg{}}
	var problem error
	w.filter, problem = newFilter(o)
	walks := make([]*argWalk, len(args))
	seqs := make([]*sequence, len(args))
	for i, path := range args {
		arg := &Arg{Path: path, rel: map[*index.File]string{}, copies: map[*index.File][]string{}, Err: problem}
		walks[i], seqs[i] = &argWalk{walker: w, arg: arg}, newSequence()
		res.Args = append(res.Args, arg)
	}
	if problem != nil {
		return res
	}
	go func() {
		for i, a := range walks {
			if ctx.Err() == nil {
				a.start(ctx, seqs[i])
			}
			seqs[i].end()
		}
	}()
	for i, a := range walks {
		t := &taker{res: res, arg: a.arg, index: i, emit: emit, walk: a, twins: newTwins(o.EachCopy)}
		seqs[i].each(w.gate, func(out outcome) { t.take(ctx, out) })
		t.finish(ctx)
	}
	w.pool.wg.Wait()
	return res
}

// start runs an argument; what goes wrong in fatview itself is its error.
func (a *argWalk) start(ctx context.Context, seq *sequence) {
	defer func() {
		if p := recover(); p != nil {
			a.fail(ctx, seq, fmt.Errorf("%s: reading it failed, which is a mistake in fatview: %v", a.arg.Path, p))
		}
	}()
	a.run(ctx, seq)
}

// taker takes in the outcomes of one argument, in order.
type taker struct {
	res   *Result
	arg   *Arg
	index int
	emit  func(Batch)
	walk  *argWalk
	twins twins
	full  bool
}

func (t *taker) take(ctx context.Context, out outcome) {
	a := t.arg
	a.Counts.add(out.counts)
	for _, f := range out.findings {
		a.find(f.Severity, f.Path, f.Message)
	}
	if out.err != nil && a.Err == nil && ctx.Err() == nil {
		a.Err = out.err
	}
	if t.walk.opt.Stream {
		t.pass(out)
		return
	}
	if out.copyOf != "" {
		if old, ok := t.twins.link(out); ok {
			t.copied(old, out)
		}
		return
	}
	for _, o := range out.others {
		if len(t.res.Others) == maxOthers {
			if !t.full {
				t.full = true
				a.find(index.Warning, a.Path, fmt.Sprintf("more than %d libraries without device code: what is needed through the others is not told", maxOthers))
			}
			break
		}
		o.Arg = t.index
		t.res.Others = append(t.res.Others, o)
	}
	if len(out.files) == 0 {
		return
	}
	if !out.named {
		if old, ok := t.twins.same(out); ok {
			t.copied(old, out)
			for _, f := range out.files {
				f.Close()
			}
			return
		}
	}
	for _, f := range out.files {
		t.res.byFile[f] = a
		a.rel[f] = out.rel + strings.TrimPrefix(f.Path, out.place)
	}
	a.Files += len(out.files)
	t.res.Files = append(t.res.Files, out.files...)
	if t.emit != nil {
		t.emit(Batch{Arg: t.index, Place: out.place, Files: out.files})
	}
}

// copied notes that what was handed out lies at another place as well.
func (t *taker) copied(old, out outcome) {
	t.arg.Counts.Copies++
	for _, f := range old.files {
		t.arg.copies[f] = append(t.arg.copies[f], out.rel+strings.TrimPrefix(f.Path, old.place))
	}
}

// finish ends an argument: packages keep their own order, so what came from
// them is sorted.
func (t *taker) finish(ctx context.Context) {
	a := t.arg
	switch {
	case ctx.Err() != nil:
		if a.Err == nil {
			a.Err = ctx.Err()
		}
	case a.Err == nil && t.walk.inner != "" && a.Files == 0 && a.Counts.Binaries == 0:
		a.Err = fmt.Errorf("%s: no library or object of that name in it", a.Path)
	}
	if t.walk.opt.Stream {
		if t.emit != nil {
			t.emit(Batch{Arg: t.index, Place: a.Path, Done: a})
		}
		a.Dists = nil // of many arguments it would add up
		return
	}
	mine := t.res.Files[len(t.res.Files)-a.Files:]
	place := map[*index.File]string{}
	for _, f := range mine {
		place[f] = outerPath(f)
	}
	sort.SliceStable(mine, func(i, j int) bool { return place[mine[i]] < place[mine[j]] })
}

// outerPath is the path of the file that an object is a member of, or its own:
// the members of a static library keep their order.
func outerPath(f *index.File) string { return strings.TrimSuffix(f.Path, f.MemberSuffix()) }

func (c *Counts) add(d Counts) {
	c.Entries += d.Entries
	c.Binaries += d.Binaries
	c.Codeless += d.Codeless
	c.Copies += d.Copies
	c.Links += d.Links
	c.Excluded += d.Excluded
}
