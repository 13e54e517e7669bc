package dist

import "strings"

const (
	kindPython = "python"
	kindConda  = "conda"
	kindNPM    = "npm"
	kindDeb    = "deb"
	kindNuGet  = "nuget"
	kindJar    = "jar"
)

// A manifest is a path that was recognised. Folders are those inside the
// archive, so that an archive called x.dist-info says nothing of its
// neighbours.
type manifest struct {
	box  string // the archive it lies in, "" if none
	dir  string // folder the manifest is in
	root string // folder its files are relative to
	id   string // cleaned; names the distribution, or the database of them
	stem string // what the file or its folder is called, without ending
	read func(manifest, []byte) ([]claim, error)
}

// IsManifest tells whether Add wants the file of that name. The path is
// slash-separated and relative to what is scanned; "!" follows an archive that
// is entered, as in "outer.whl!x.dist-info/METADATA".
func IsManifest(path string) bool {
	_, ok := classify(path)
	return ok
}

// classify looks at the last few names of a path.
func classify(p string) (manifest, bool) {
	box, inside := unbox(p)
	if strings.Contains("/"+inside+"/", "/../") {
		return manifest{}, false
	}
	name, dir := base(inside), parent(inside)
	in := base(dir)
	m := manifest{box: box, dir: dir, root: parent(dir), id: clean(rebox(box, dir))}
	if stem, ok := strings.CutSuffix(in, ".dist-info"); ok && stem != "" {
		m.stem = stem
		switch name {
		case "METADATA":
			m.read = readMetadata
		case "RECORD":
			m.read = readRecord
		}
	}
	if stem, ok := strings.CutSuffix(in, ".egg-info"); ok && stem != "" {
		m.stem = stem
		switch name {
		case "PKG-INFO":
			m.read = readMetadata
		case "installed-files.txt":
			m.read = readInstalledFiles
		}
	}
	switch {
	case m.read != nil:
	case name == "PKG-INFO" && in == "EGG-INFO" && strings.HasSuffix(base(rebox(box, m.root)), ".egg") && len(base(rebox(box, m.root))) > len(".egg"):
		m.stem, m.read = strings.TrimSuffix(base(rebox(box, m.root)), ".egg"), readEgg
	case in == "conda-meta" && strings.HasSuffix(name, ".json"):
		m.id, m.read = clean(p), readCondaMeta
	case in == "info" && name == "index.json":
		m.read = readCondaIndex
	case name == "package.json":
		m.root, m.read = dir, readPackageJSON
	case in == "DEBIAN" && name == "control":
		m.read = readControl
	case strings.HasSuffix(strings.ToLower(name), ".nuspec") && len(name) > len(".nuspec"):
		m.root, m.read = dir, readNuspec
	case name == "pom.properties":
		return classifyPom(m)
	default:
		return classifyDpkg(m, name)
	}
	return m, m.read != nil
}

// classifyPom accepts META-INF/maven/group/artifact/pom.properties.
func classifyPom(m manifest) (manifest, bool) {
	maven := parent(parent(m.dir))
	if base(maven) != "maven" || base(parent(maven)) != "META-INF" {
		return m, false
	}
	m.root, m.read = parent(parent(maven)), readPom
	return m, true
}

// classifyDpkg accepts dpkg's database of what is installed.
func classifyDpkg(m manifest, name string) (manifest, bool) {
	db := m.dir
	switch stem, isList := strings.CutSuffix(name, ".list"); {
	case name == "status" && base(db) == "dpkg":
		m.read = readStatus
	case base(db) == "info" && isList && stem != "" && stem[0] != ':':
		m.stem, m.read, db = stem, readList, m.root
	case base(db) == "status.d" && name != "" && name[0] != ':' && name != ".md5sums":
		m.stem, m.read, db = name, readStatus, m.root
		if stem, ok := strings.CutSuffix(name, ".md5sums"); ok {
			m.stem, m.read = stem, readMD5Sums
		}
	default:
		return m, false
	}
	lib := parent(db)
	if base(db) != "dpkg" || base(lib) != "lib" || base(parent(lib)) != "var" {
		return m, false
	}
	m.id, m.root = clean(rebox(m.box, db)), parent(parent(lib))
	return m, true
}
